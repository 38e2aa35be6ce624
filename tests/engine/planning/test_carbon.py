import pytest

from engine.errors import InvalidRequest
from engine.planning.carbon import mixed_grid, plan_carbon
from engine.records.carbon import CarbonSettings
from engine.reports.plan_carbon import answer, notes


def test_one_call():
    plan = plan_carbon(CarbonSettings(active_w=150, busy_ms=21, rate_per_s=1, pue=1.2, grams_per_kwh=700))
    assert plan.kwh_per_call == pytest.approx(1.05e-6)
    assert plan.grams_per_1k / 1000 == pytest.approx(7.35e-4)


def fleet(rate_per_s):
    return plan_carbon(
        CarbonSettings(n_replicas=8, active_w=60, idle_w=60, busy_ms=20, rate_per_s=rate_per_s, grams_per_kwh=475)
    )


def test_a_fleet_and_half_its_traffic():
    assert fleet(278).grams_per_1k == pytest.approx(0.273381, abs=5e-7)
    assert fleet(139).grams_per_1k == pytest.approx(2 * fleet(278).grams_per_1k)
    assert fleet(139).kg_per_month == pytest.approx(8 * 60 * 1.2 * 720 * 475 / 1e6)


def test_waiting_is_told_apart():
    plan = plan_carbon(CarbonSettings(n_replicas=2, active_w=100, idle_w=40, busy_ms=500, rate_per_s=2))
    assert plan.busy_fraction == 0.5
    assert plan.grams_per_1k_idle / plan.grams_per_1k == pytest.approx(40 / 140)
    assert answer(plan).startswith("Estimate: ")
    assert "PUE 1.2, 475 g/kWh" in notes(plan)[0]


def test_a_mixed_grid():
    assert mixed_grid({"coal": 0.25, "petroleum": 0.35, "natural_gas": 0.26, "nuclear": 0.14}) == pytest.approx(731.59)


@pytest.mark.parametrize("shares", [{"coal": 0.5}, {"peat": 1.0}, {"coal": 1.5, "wind": -0.5}])
def test_what_is_no_grid_is_refused(shares):
    with pytest.raises(InvalidRequest):
        mixed_grid(shares)


def test_more_traffic_than_the_fleet_can_do():
    with pytest.raises(InvalidRequest, match="unstable: 1,000/s exceeds 400/s, what 8 replicas can do"):
        fleet(1000)
