"""Charts of single calls and of pairs: what is drawn is what was measured."""

import numpy as np
import pytest

from engine.records import Comparison, Workload
from pages._ui.experiment.call_charts import N_POINTS, histogram, spread_chart
from pages._ui.experiment.pair_ratios import pair_chart, quantity, reading
from pages._ui.experiment.raw_calls import Calls, speedups

RNG = np.random.default_rng(0)
MANY = np.sort(RNG.gamma(2, 1, 200_000))


def compared(quantile=0.5, clock="wall"):
    return Comparison(
        workload=Workload(), quantile=quantile, clock=clock, ratio=0.5, low=0.4, high=0.6, verdict="faster", n_pairs=3
    )


def test_the_spread_keeps_few_points_and_all_the_shares():
    line, marks = spread_chart({"variant": MANY}).data
    assert len(line.x) == N_POINTS
    assert line.x[0] == MANY[0]
    assert line.x[-1] == MANY[-1]
    assert np.isclose(np.interp(50, line.y, line.x), np.median(MANY), rtol=0.01)
    assert list(marks.y) == [50, 95, 99]
    assert marks.x[2] == pytest.approx(np.quantile(MANY, 0.99), rel=1e-3)


def test_percentiles_are_marked_only_where_there_are_calls_enough():
    _, marks = spread_chart({"variant": MANY[:300]}).data
    assert list(marks.y) == [50, 95]
    assert len(histogram({"variant": MANY[:300]}).layout.shapes) == 2


@pytest.mark.parametrize("scale", [1.0, 40.0])
def test_a_histogram_counts_every_call_up_to_its_end(scale):
    arms = {"baseline": MANY * scale, "variant": MANY}  # far apart: a logarithmic axis
    for trace in histogram(arms).data:
        assert sum(trace.y) == pytest.approx(100, abs=0.2)
    assert histogram(arms).layout.xaxis.type == ("log" if scale > 1 else "linear") or scale == 1.0


def test_equal_times_make_a_chart_too():
    same = np.full(50, 1.0)
    histogram({"variant": same})
    spread_chart({"baseline": same, "variant": same})


def calls(times, cpu=None):
    pair = np.repeat([0, 1, 2], 100)
    return Calls(pair, np.asarray(times, float), cpu)


def test_a_pair_has_the_ratio_of_its_own_calls():
    arms = {
        "baseline": calls(np.repeat([2.0, 2.2, 2.4], 100)),
        "variant": calls(np.repeat([1.0, 1.0, 1.0], 100), np.repeat([0.5, 0.5, 0.5], 100)),
    }
    values, found = speedups(arms, compared())
    assert values == pytest.approx({0: 2.0, 1: 2.2, 2: 2.4})
    assert 1 / found.value == pytest.approx((2.0 * 2.2 * 2.4) ** (1 / 3))
    with pytest.raises(AssertionError, match="processor time"):
        speedups(arms, compared(clock="cpu"))
    (mark,) = pair_chart(values, found).data
    assert list(mark.y) == pytest.approx([2.0, 2.2, 2.4])
    assert reading(values, found, compared()).startswith("3 pairs, from 2.00× to 2.40×; together 2.19×")


def test_one_pair_has_no_interval():
    one = Calls(np.zeros(100, int), np.full(100, 2.0), None)
    values, found = speedups({"baseline": one, "variant": one}, compared())
    assert values == {0: 1.0}
    assert found is None
    pair_chart(values, found)


def test_quantities_are_named():
    assert [quantity(compared(q)) for q in (0.5, 0.99, None)] == ["p50", "p99", "mean"]
    assert quantity(compared(0.95, "cpu")) == "p95 of processor time"
