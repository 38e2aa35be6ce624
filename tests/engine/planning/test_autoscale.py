import numpy as np
import pytest

from engine.errors import InvalidRequest
from engine.planning.autoscale import at_target, busiest_minute_per_s, cold_fraction, plan_autoscale
from engine.records.autoscaling import FleetSettings, Hpa, Keda
from engine.reports.plan_autoscale import answer
from engine.simulation.arrivals import lognormal_service, steps


def traffic(*rates, service_s=0.02):
    arrivals = steps(rates, seed=1)
    return arrivals, lognormal_service(service_s, 0.5, len(arrivals), seed=2)


def test_the_static_fleet_is_sized_by_the_busiest_minute_and_stands_beside():
    plan = plan_autoscale(
        *traffic((20, 600), (278, 600), (20, 600)),
        FleetSettings(startup_s=(5.0,), price_per_hour=40),
        Hpa(signal="requests", target=30),
        others=True,
    )
    assert plan.peak_per_s == pytest.approx(278, rel=0.08)
    assert plan.static.most_replicas == 8
    assert plan.static.bad_minutes == 0
    assert plan.scaled.cost < plan.static.cost
    assert plan.best is None  # the step's first minutes are beyond the SLO
    assert answer(plan, "USD").startswith("Keep 8 fixed replicas")
    assert [target for target, _ in plan.tried] == pytest.approx([21, 25.5, 36])


def test_slow_growth_lets_scaling_pay():
    ramp = [(rate, 60) for rate in (*range(20, 200, 6), *range(200, 20, -6))]
    rules = Hpa(signal="requests", target=25, down_window_s=60)
    plan = plan_autoscale(*traffic(*ramp), FleetSettings(startup_s=(5.0,), min_replicas=2), rules, n_static=6)
    assert plan.best == (25, plan.scaled)
    assert answer(plan, "USD").startswith("Scale by requests at 25: ")


def test_a_cold_start_beyond_the_timeout_is_told_with_what_prevents_it():
    """Loading 15 s against a timeout of 10 s: the first requests fail."""
    fleet = FleetSettings(
        min_replicas=0, startup_s=(5.0,), load_s=15, first_call_s=2, timeout_s=10, slo_ms=500, price_per_hour=2
    )
    arrivals = np.cumsum(np.random.default_rng(0).exponential(400, 40))
    plan = plan_autoscale(
        arrivals, np.full(40, 0.05), fleet, Keda(polling_s=0, hpa=Hpa(signal="in_flight", target=1)), n_static=1
    )
    assert fleet.cold_start_s == 22
    assert plan.scaled.n_timed_out >= plan.scaled.n_cold_starts > 10
    assert any("start 5 s + load 15 s + first call 2 s" in one for one in plan.warnings)
    assert any("exceed the timeout of 10 s" in one and "costs 1,440 a month" in one for one in plan.warnings)
    assert plan.static.bad_minutes == 0


def test_the_cold_share():
    assert cold_fraction(1 / 600, 300) == pytest.approx(0.607, abs=5e-4)


def test_other_targets_keep_the_rules():
    assert at_target(Hpa(target=0.9), 1.08).target == 0.95
    other = at_target(Keda(cooldown_s=7), 15)
    assert (other.cooldown_s, other.hpa.target) == (7, 15)


def test_the_busiest_minute():
    assert busiest_minute_per_s(np.array([0, 61, 62, 63, 200.0])) == 3 / 60
    assert busiest_minute_per_s(np.array([0.0, 1, 2])) == 1.5


@pytest.mark.parametrize(
    ("fleet", "rates", "says"),
    [
        ({"max_replicas": 3}, [(200, 100)], r"unstable: 2\d\d/s exceeds 1\d\d/s, what 3 replicas can do"),
        ({"slo_ms": 5}, [(20, 100)], "an SLO of 5 ms is below the service time"),
        ({"startup_s": (600.0,)}, [(20, 300)], "600 s to be ready and the trace is 300 s long"),
    ],
)
def test_impossible_plans_are_a_sentence(fleet, rates, says):
    with pytest.raises(InvalidRequest, match=says):
        plan_autoscale(*traffic(*rates), FleetSettings(**fleet), Hpa())


@pytest.mark.parametrize(
    "make",
    [
        lambda: FleetSettings(min_replicas=5, max_replicas=4),
        lambda: FleetSettings(initial_replicas=1),
        lambda: Hpa(signal="cpu", target=30),
        lambda: Keda(hpa=Hpa(signal="cpu")),
    ],
)
def test_rules_that_contradict_themselves_are_refused(make):
    with pytest.raises(InvalidRequest):
        make()
