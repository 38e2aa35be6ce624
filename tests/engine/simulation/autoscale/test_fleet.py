import numpy as np
import pytest
import simpy

from engine.records.autoscaling import FleetSettings
from engine.simulation.arrivals import lognormal_service, poisson
from engine.simulation.autoscale.advance import SERVED, SHED, TIMED_OUT
from engine.simulation.autoscale.fleet import Fleet
from engine.simulation.queue import serve


def fleet(arrivals, services, **settings):
    settings = {"min_replicas": 1, "startup_s": (10.0,)} | settings
    return Fleet(np.array(arrivals, float), np.array(services, float), FleetSettings(**settings), 0)


@pytest.mark.parametrize(("replicas", "concurrency"), [(8, 1), (2, 4), (1, 1)])
def test_a_fixed_fleet_is_the_exact_queue(replicas, concurrency):
    n = 50_000
    arrivals = poisson(42 * replicas * concurrency, n, seed=1)
    services = lognormal_service(0.02, 0.5, n, seed=2)
    ran = fleet(arrivals, services, min_replicas=replicas, concurrency=concurrency)
    for until in (3.0, 3.0, 20.5, np.inf):
        ran.advance(until)
    expected = serve(arrivals, services, replicas * concurrency)
    assert np.abs(ran.finishes - expected.finishes_s).max() < 1e-9
    assert ran.done
    assert ran.view.busy_s == pytest.approx(services.sum(), rel=1e-9)
    assert ran.view.in_flight_s == pytest.approx(expected.latencies_s.sum(), rel=1e-9)  # Little
    assert ran.paid_s == pytest.approx(replicas * expected.finishes_s.max())


def test_simpy_agrees_while_the_fleet_grows():
    """Replicas that are ordered at set times, as tokens that SimPy hands out in order."""
    arrivals, services = poisson(300, 6000, seed=3), lognormal_service(0.02, 0.5, 6000, seed=4)
    orders = {1.0: 2, 4.5: 3, 9.0: 1}
    ran = fleet(arrivals, services, min_replicas=3, startup_s=(2.5,))
    for at, more in orders.items():
        ran.advance(at)
        ran.scale_to(ran.view.n_current + more)
    ran.advance(np.inf)
    env = simpy.Environment()
    free, finishes = simpy.Store(env), np.empty(len(arrivals))

    def replica(ready_s):
        yield env.timeout(ready_s)
        yield free.put(None)

    def request(i):
        yield env.timeout(arrivals[i])
        yield free.get()
        yield env.timeout(services[i])
        finishes[i] = env.now
        yield free.put(None)

    for ready_s, count in ((0, 3), *((at + 2.5, more) for at, more in orders.items())):
        for _ in range(count):
            env.process(replica(ready_s))
    for i in range(len(arrivals)):
        env.process(request(i))
    env.run()
    assert np.abs(ran.finishes - finishes).max() < 1e-9
    assert (ran.finishes - arrivals).max() > 1  # there was something to disagree about


def test_a_replica_serves_when_it_has_started_and_is_paid_from_its_order():
    ran = fleet([0, 1, 2], [30, 5, 5], load_s=2)
    ran.advance(4)
    ran.scale_to(2)
    ran.advance(np.inf)
    assert ran.finishes.tolist() == [30, 21, 26]  # ready at 4 + 10 + 2
    assert ran.paid_s == 30 + 26


def test_a_first_call_is_slow_once():
    ran = fleet([0, 0, 0], [50, 1, 1], first_call_s=4)
    ran.scale_to(2)
    ran.advance(np.inf)
    assert ran.finishes.tolist() == [50, 14, 15]


def test_starting_replicas_leave_first_and_busy_ones_drain():
    ran = fleet([0, 0, 0, 0], [8, 20, 3, 3], min_replicas=2)
    ran.advance(1)
    ran.scale_to(3)
    ran.advance(2)
    ran.scale_to(1)  # the starting one and a busy one
    assert (ran.view.n_ready, ran.view.n_starting, ran.view.n_running) == (1, 0, 2)
    ran.advance(np.inf)
    assert sorted(ran.finishes.tolist()) == [8, 20, 23, 26]  # the first drained, the second served the rest
    assert ran.paid_s == 8 + 26 + 1


def test_who_waits_too_long_leaves_and_who_finds_a_long_queue_is_turned_away():
    ran = fleet([0, 1, 2, 3, 4], [10, 1, 1, 1, 1], timeout_s=8.5, max_waiting=3)
    ran.advance(np.inf)
    assert ran.outcome.tolist() == [SERVED, TIMED_OUT, SERVED, SERVED, SHED]
    assert ran.finishes[2:4].tolist() == [11, 12]


def test_it_stops_at_the_request_that_finds_nobody():
    ran = fleet([5, 6], [1, 1], min_replicas=0)
    assert ran.advance(100, wakes=True)
    assert ran.view.now_s == 5
    ran.scale_to(1)
    assert not ran.advance(100, wakes=True)
    assert ran.finishes.tolist() == [16, 17]
    assert ran.n_cold_starts == 1


def test_start_up_times_are_drawn_by_seed_and_the_table_grows():
    ran = fleet([0], [1000], startup_s=(1.0, 2.0, 3.0), max_replicas=300)
    ran.scale_to(200)
    ran.advance(2.0)
    assert 90 < ran.view.n_ready < 180
    assert ran.view.n_current == 200
