import numpy as np
import pytest

from engine.errors import InvalidRequest
from engine.planning.tail import any_slow, delay_for, leaf_quantile, plan_tail, with_cold_starts
from engine.records.tails import TailSettings
from engine.reports.plan_hedge import answer, notes, rows


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    slow = rng.random(50_000) < 0.02
    return rng.lognormal(np.log(20), 0.25, 50_000) + np.where(slow, rng.exponential(300, 50_000), 0)


@pytest.mark.parametrize(
    ("fast", "calls", "slow"),
    [(0.99, 10, 0.095618), (0.99, 50, 0.394994), (0.99, 100, 0.633968), (0.9999, 2000, 0.181277)],
)
def test_fan_out(fast, calls, slow):
    assert any_slow(fast, calls) == pytest.approx(slow, abs=5e-7)


def test_what_one_of_a_hundred_calls_has_to_keep():
    assert leaf_quantile(0.99, 100) == pytest.approx(0.9998995, abs=5e-8)


def test_the_delay_keeps_the_budget(samples):
    delay = delay_for(samples, 0.02)
    assert (samples > delay).mean() == 0.02
    assert delay_for(np.arange(1, 101.0), 0.05) == 95


def test_hedging_pays_and_the_cautious_row_is_there(samples):
    plan = plan_tail(samples, TailSettings(utilisation=0.5, fan_out=10))
    before, after = plan.rows
    assert plan.hedge
    assert after.p999_ms < 0.2 * before.p999_ms
    assert [row.correlation for row in plan.correlations] == [0, 0.25, 0.5, 0.75, 1]
    assert after.p999_ms < plan.correlations[2].p999_ms
    assert plan.utilisation_after == 0.51
    assert plan.fan_out_ms[1] < plan.fan_out_ms[0]
    assert answer(plan).startswith("Send a second copy after")
    assert "assumes the copy's slowness is independent" in notes(plan)[0]
    assert len(rows(plan)) == 7


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"utilisation": 0.69}, "70% busy, beyond 70%"),
        ({"delay_ms": 20}, "more than the budget of 2.0%"),
        ({"delay_ms": 1e6}, "no request is slower"),
    ],
)
def test_when_not_to_hedge(samples, settings, why):
    plan = plan_tail(samples, TailSettings(**settings))
    assert not plan.hedge
    assert why in plan.why
    assert answer(plan).startswith("Do not hedge: ")


def test_latencies_that_do_not_vary_are_not_hedged():
    assert not plan_tail(np.linspace(20, 20.5, 10_000), TailSettings()).hedge


def test_fallback_cold_starts_and_pauses_have_rows(samples):
    settings = TailSettings(
        timeout_ms=100, fallback_ms=2, cold_fraction=0.02, cold_ms=30_000, pause_ms=80, pause_every_s=4
    )
    plan = plan_tail(samples, settings)
    found = {row.name: row for row in plan.rows}
    assert found["with fallback"].p999_ms == 102
    assert plan.fallback_fraction == pytest.approx((samples > 100).mean())
    assert found["with cold starts"].p99_ms > 30_000
    assert found["with pauses"].p99_ms > found["as measured"].p95_ms


def test_cold_starts_below_one_per_cent_leave_the_p99():
    steady = np.full(1000, 20.0)
    assert with_cold_starts(steady, 0.009, 30_000, 0.99) == 20
    assert with_cold_starts(steady, 0.011, 30_000, 0.99) == 30_020


def test_few_samples_show_no_far_percentile():
    row = plan_tail(np.linspace(10, 20, 499), TailSettings()).rows[0]
    assert (row.p99_ms, row.p999_ms) == (None, None)
    assert row.p95_ms is not None


@pytest.mark.parametrize(
    ("samples_ms", "settings", "says"),
    [
        (np.ones(99), {}, "at least 100 latencies"),
        (np.zeros(100), {}, "above 0 ms"),
        (np.ones(100), {"utilisation": 1.2}, "unstable: a fleet that is 120% busy"),
    ],
)
def test_impossible_tails_are_a_sentence(samples_ms, settings, says):
    with pytest.raises(InvalidRequest, match=says):
        plan_tail(samples_ms, TailSettings(**settings))


@pytest.mark.parametrize("settings", [{"pause_ms": 50, "pause_every_s": 0.05}, {"cold_fraction": 0.1}])
def test_contradictions_are_refused(settings):
    with pytest.raises(InvalidRequest):
        TailSettings(**settings)
