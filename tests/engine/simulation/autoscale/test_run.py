import math

import numpy as np
import pytest

from engine.errors import InvalidRequest
from engine.planning.queueing import total_quantile_s
from engine.records.autoscaling import FleetSettings, Hpa, Keda
from engine.simulation.arrivals import poisson
from engine.simulation.autoscale.run import simulate, static


@pytest.fixture(scope="module")
def step():
    """One hour, 80 -> 278 -> 80 requests/s at 20 and 40 min, by thinning; service 20 ms."""
    rng = np.random.default_rng(3)
    times = np.sort(rng.uniform(0, 3600, rng.poisson(280.0 * 3600)))
    rate = np.where((times > 1200) & (times < 2400), 278.0, 80.0)
    arrivals = times[rng.uniform(0, 280.0, len(times)) < rate]
    return arrivals, rng.lognormal(np.log(0.02) - 0.125, 0.5, len(arrivals))


def fleet(startup_s=60.0, **settings):
    return FleetSettings(**({"initial_replicas": 4, "startup_s": (startup_s,), "price_per_hour": 40} | settings))


def test_the_static_fleet_of_the_step(step):
    run = simulate(*step, static(8, fleet()), None)
    assert run.n_requests == 525_020
    assert run.p99_ms == pytest.approx(59, abs=1)
    assert (run.bad_minutes, run.most_replicas, run.n_started) == (0, 8, 0)
    assert (run.replica_hours, run.cost) == pytest.approx((8.0, 320), rel=1e-3)


@pytest.mark.parametrize(
    ("signal", "target", "startup_s", "p99_s", "bad", "hours", "most"),
    [
        ("cpu", 0.6, 5, 20.8, 2, 6.15, 13),
        ("cpu", 0.6, 60, 52.2, 5, 6.29, 15),
        ("cpu", 0.77, 60, 81.2, 9, 5.30, 12),
        ("requests", 30, 5, 9.5, 2, 5.92, 10),
        ("requests", 30, 60, 34.7, 3, 5.92, 10),
        ("in_flight", 0.8, 5, 0.26, 1, 8.33, 12),
        ("in_flight", 0.8, 60, 5.5, 2, 16.61, 100),
        ("in_flight", 2.0, 60, 45.7, 8, 31.60, 100),
    ],
)
def test_the_step_under_an_hpa(step, signal, target, startup_s, p99_s, bad, hours, most):
    run = simulate(*step, fleet(startup_s), Hpa(signal=signal, target=target))
    assert run.p99_ms / 1000 == pytest.approx(p99_s, rel=0.02)
    assert abs(run.bad_minutes - bad) <= 1
    assert run.replica_hours == pytest.approx(hours, rel=0.02)
    assert run.most_replicas == most


def test_fixed_replicas_agree_with_erlang_c():
    n = 400_000
    services = np.random.default_rng(2).exponential(0.02, n)
    run = simulate(poisson(278, n, seed=1), services, static(8, fleet()), None)
    assert run.p99_ms == pytest.approx(1000 * total_quantile_s(8, 278, 0.02, 0.99), rel=0.02)


def test_scale_to_zero_meets_the_closed_form():
    arrivals = np.cumsum(np.random.default_rng(5).exponential(600, 400))
    known = FleetSettings(min_replicas=0, startup_s=(30.0,), slo_ms=1000)
    rules = Keda(polling_s=0, hpa=Hpa(signal="requests", target=30))
    run = simulate(arrivals, np.full(len(arrivals), 0.02), known, rules)
    assert (run.p50_ms, run.p95_ms) == pytest.approx((30_020, 30_020))
    assert run.n_cold_starts / 400 == pytest.approx(math.exp(-0.5), abs=0.073)  # 3 standard errors


def test_polling_adds_to_a_cold_start():
    known = FleetSettings(min_replicas=0, startup_s=(20.0,))
    run = simulate(np.array([5.0]), np.array([1.0]), known, Keda(hpa=Hpa(signal="in_flight", target=1)))
    assert run.p50_ms == pytest.approx(46_000)  # seen at 30 s, ready at 50 s, served at 51 s


def test_a_fleet_that_never_wakes_is_no_endless_loop():
    known = FleetSettings(min_replicas=0, startup_s=(1.0,))
    rules = Keda(activation=5, hpa=Hpa(signal="in_flight", target=1))
    run = simulate(np.array([5.0, 50.0]), np.array([1.0, 1.0]), known, rules)
    assert (run.n_unanswered, run.p50_ms, run.bad_minutes) == (2, None, 1)


def test_an_overloaded_fleet_ends_too():
    run = simulate(np.arange(2000.0), np.full(2000, 10.0), FleetSettings(min_replicas=1, max_replicas=1), Hpa())
    assert run.n_unanswered == pytest.approx(2000 - 560, abs=2)
    assert run.p99_ms is None


def test_late_answers_are_failures_where_clients_give_up():
    known = FleetSettings(min_replicas=1, timeout_s=2.5)
    run = simulate(np.array([0.0, 1.0, 2.0]), np.array([2.0, 2.0, 0.4]), known, None)
    assert (run.n_timed_out, run.p50_ms) == (1, pytest.approx(2400))  # the second waits 1 s and takes 2 s


def test_the_timeline_tells_the_step(step):
    line = simulate(*step, fleet(), Hpa(signal="requests", target=30)).timeline
    assert len(line.time_s) == len(line.ready) == len(line.waiting) == len(line.requests_per_s)
    assert max(line.starting) > 0
    at = np.searchsorted(line.time_s, 1800)
    assert line.requests_per_s[at] == pytest.approx(278, rel=0.15)


def test_an_hpa_does_not_go_to_zero():
    with pytest.raises(InvalidRequest, match="at least 1 replica"):
        simulate(np.array([1.0]), np.array([1.0]), FleetSettings(min_replicas=0), Hpa())
