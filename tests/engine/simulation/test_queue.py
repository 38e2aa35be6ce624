import numpy as np
import pytest
import simpy

from engine.errors import InvalidRequest
from engine.planning.queueing import mean_wait_s, total_quantile_s
from engine.simulation.arrivals import lognormal_service, poisson
from engine.simulation.queue import serve

N = 1_000_000


def simpy_finishes(arrivals, services, n_servers):
    """The same requests through SimPy, an independent event loop."""
    env = simpy.Environment()
    servers = simpy.Resource(env, capacity=n_servers)
    finishes = np.empty(len(arrivals))

    def request(i):
        with servers.request() as turn:
            yield turn
            yield env.timeout(services[i])
            finishes[i] = env.now

    def source():
        for i, arrival in enumerate(arrivals):
            yield env.timeout(arrival - env.now)
            env.process(request(i))

    env.process(source())
    env.run()
    return finishes


@pytest.mark.parametrize("n_servers", [1, 2, 8])
def test_simpy_finishes_every_request_at_the_same_time(n_servers):
    arrivals = poisson(45 * n_servers, 6_000, seed=n_servers)
    services = lognormal_service(0.02, 0.5, len(arrivals), seed=9)
    run = serve(arrivals, services, n_servers)
    assert np.abs(run.finishes_s - simpy_finishes(arrivals, services, n_servers)).max() < 1e-9


def test_exponential_service_agrees_with_erlang_c():
    services = np.random.default_rng(2).exponential(0.02, N)
    run = serve(poisson(278, N, seed=1), services, 8)
    assert np.quantile(run.latencies_s, 0.99) == pytest.approx(total_quantile_s(8, 278, 0.02, 0.99), rel=0.015)
    assert run.waits_s.mean() == pytest.approx(mean_wait_s(8, 278, 0.02), rel=0.05)
    assert run.busy_fraction == pytest.approx(0.695, rel=0.005)


def test_constant_service_agrees_with_pollaczek_and_khinchine():
    run = serve(poisson(35, N, seed=3), np.full(N, 0.02), 1)
    assert run.waits_s.mean() == pytest.approx(0.7 * 0.02 / (2 * 0.3), rel=0.03)  # rho S / 2(1 - rho)


def test_a_small_queue_by_hand():
    run = serve(np.array([0.0, 1, 2, 3]), np.array([5.0, 1, 1, 1]), 2)
    assert run.starts_s.tolist() == [0, 1, 2, 3]
    assert serve(np.array([0.0, 1, 2, 3]), np.full(4, 5.0), 2).waits_s.tolist() == [0, 0, 3, 3]


@pytest.mark.parametrize(
    ("arrivals", "services", "n_servers", "says"),
    [
        ([], [], 1, "no traffic"),
        ([0, 1], [1], 1, "do not belong together"),
        ([1, 0], [1, 1], 1, "must ascend"),
        ([0, 1], [1, 0], 1, "above 0"),
        ([0, np.nan], [1, 1], 1, "finite"),
        ([0, 1], [1, 1], 0, "at least one server"),
    ],
)
def test_what_is_no_traffic_is_refused(arrivals, services, n_servers, says):
    with pytest.raises(InvalidRequest, match=says):
        serve(np.array(arrivals), np.array(services), n_servers)
