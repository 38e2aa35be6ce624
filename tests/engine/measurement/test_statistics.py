import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from engine.measurement.statistics import (
    Ratio,
    early_stopping,
    nearest_rank,
    order_ranks,
    pair_ratio,
    pairs_needed,
    percentile,
    query_count,
    smallest_n,
    verdict,
)

RECORDED = json.loads((Path(__file__).parent / "aa_pairs.json").read_text())


# ---------------------------------------------------------------- percentiles
@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=300), st.sampled_from([0.07, 0.5, 0.9, 0.95, 0.99, 0.999]))
def test_nearest_rank_is_a_measured_value_with_enough_below(samples, q):
    value = nearest_rank(np.array(samples), q)
    assert value in samples
    assert value <= max(samples)
    assert sum(one <= value for one in samples) >= q * len(samples) - 1e-9
    assert value == np.quantile(samples, q, method="inverted_cdf") or len(samples) * q % 1 > 1 - 1e-9


def test_nearest_rank_is_not_fooled_by_binary_fractions():
    assert nearest_rank(np.arange(1, 101), 0.07) == 7  # 0.07 * 100 is 7.000000000000001


@pytest.mark.parametrize(
    ("n", "p50", "p95", "p99"),
    [
        (100, (40, 61), (90, 100), (97, None)),
        (300, (133, 168), (277, 293), (293, None)),
        (500, (228, 273), (465, 485), (490, 500)),
        (1000, (469, 532), (936, 964), (983, 997)),
        (10_000, (4902, 5099), (9457, 9543), (9880, 9920)),
    ],
)
def test_order_statistics_interval(n, p50, p95, p99):
    assert (order_ranks(n, 0.5), order_ranks(n, 0.95), order_ranks(n, 0.99)) == (p50, p95, p99)


def test_few_samples_have_no_bounds():
    assert order_ranks(3, 0.5) == (None, None)


def test_order_statistics_interval_covers():
    rng = np.random.default_rng(0)
    draws = np.sort(rng.exponential(size=(4000, 200)), axis=1)
    low, high = order_ranks(200, 0.9)
    held = (draws[:, low - 1] <= -math.log(0.1)) & (draws[:, high - 1] >= -math.log(0.1))
    assert held.mean() >= 0.945


@pytest.mark.parametrize(("q", "one_sided", "two_sided"), [(0.95, 59, 72), (0.99, 299, 368), (0.999, 2995, 3688)])
def test_samples_until_the_maximum_bounds_a_quantile(q, one_sided, two_sided):
    assert smallest_n(q) == one_sided
    assert smallest_n(q, two_sided=True) == two_sided


@pytest.mark.parametrize(("q", "floor"), [(0.95, 100), (0.99, 500), (0.999, 5000)])
def test_no_percentile_below_its_sample_floor(q, floor):
    samples = np.arange(floor, dtype=float)
    assert percentile(samples[1:], q) is None
    assert percentile(samples, q).value == nearest_rank(samples, q)


def test_percentile_carries_its_interval():
    found = percentile(np.arange(1.0, 301.0), 0.5)
    assert (found.value, found.low, found.high) == (150, 133, 168)
    top = percentile(np.arange(1.0, 501.0)[::-1], 0.99)
    assert (top.value, top.low, top.high) == (495, 490, 500)


# ---------------------------------------------------------------- pairs
def test_pair_ratio_is_the_t_interval_of_the_log_ratios():
    rng = np.random.default_rng(1)
    base = rng.lognormal(0, 0.3, 10)
    variant = base * np.exp(rng.normal(-0.7, 0.02, 10))
    found = pair_ratio(base, variant)
    oracle = stats.ttest_1samp(np.log(variant / base), 0).confidence_interval(0.95)
    assert (math.log(found.low), math.log(found.high)) == pytest.approx(tuple(oracle))
    assert found.value == pytest.approx(stats.gmean(variant / base))
    assert found.n_pairs == 10


def ratio(value, half_width, n_pairs=10):
    middle = math.log(value)
    return Ratio(value, math.exp(middle - half_width), math.exp(middle + half_width), half_width, n_pairs)


@pytest.mark.parametrize(
    ("value", "half_width", "expected"),
    [
        (0.5, 0.1, "faster"),
        (0.96, 0.005, "faster"),
        (2.0, 0.1, "slower"),
        (1.04, 0.005, "slower"),
        (1.0, 0.01, "no difference"),
        (0.98, 0.005, "no difference"),
        (0.96, 0.02, "cannot tell"),
        (1.0, 0.05, "cannot tell"),
        (0.5, 1.0, "cannot tell"),
        (1.0, 0.0, "no difference"),
        (0.5, 0.0, "faster"),
        (1.05, 0.0, "slower"),
    ],
)
def test_verdict(value, half_width, expected):
    assert verdict(ratio(value, half_width)) == expected


def test_identical_pairs_have_no_width_and_still_a_verdict():
    same = pair_ratio([2.0, 2.0, 2.0], [1.0, 1.0, 1.0])
    assert same.half_width == 0
    assert verdict(same) == "faster"
    assert pairs_needed(same) is None
    assert verdict(pair_ratio([1.0, 2.0], [1.0, 2.0])) == "no difference"


def test_on_the_edge_without_spread_is_no_difference():
    edge = Ratio(1.03, 1.03, 1.03, 0.0, 3)
    assert verdict(edge) == "no difference"
    assert pairs_needed(edge) is None


def test_pairs_needed_scales_with_the_squared_width():
    found = ratio(1.0, 0.06)
    assert pairs_needed(found) == math.ceil(10 * (0.06 / math.log(1.03)) ** 2) == 42
    assert pairs_needed(ratio(0.9, 0.2)) == math.ceil(10 * (0.2 / (math.log(1 / 0.9) - math.log(1.03))) ** 2)


def test_pairs_needed_is_always_more_than_there_were():
    just_open = ratio(1.0, math.log(1.03) * 1.0001)
    assert verdict(just_open) == "cannot tell"
    assert pairs_needed(just_open) == 11


def test_a_ratio_on_the_edge_names_no_number():
    assert pairs_needed(ratio(1.03, 0.01)) is None
    assert pairs_needed(ratio(1.0300001, 0.01)) is None


@given(st.floats(0.2, 5.0), st.floats(0.0, 1.0), st.integers(2, 40))
def test_pairs_are_asked_for_only_where_nothing_is_decided(value, half_width, n_pairs):
    found = ratio(value, half_width, n_pairs)
    needed = pairs_needed(found)
    if verdict(found) != "cannot tell":
        assert needed is None
    else:
        assert needed is None or n_pairs < needed <= 10_001


# ---------------------------------------------------------------- the same model against itself, as recorded
@pytest.mark.parametrize("q", ["0.5", "0.95", "0.99"])
def test_recorded_runs_of_one_model_are_not_called_different(q):
    base, variant = RECORDED[q]["baseline"], RECORDED[q]["variant"]
    runs = [slice(start, start + 10) for start in range(0, 40, 10)] + [slice(0, 40)]
    assert {verdict(pair_ratio(base[run], variant[run])) for run in runs} <= {"no difference", "cannot tell"}


@pytest.mark.parametrize("q", ["0.5", "0.95", "0.99"])
@pytest.mark.parametrize("n_pairs", [3, 10, 20])
def test_random_draws_of_recorded_pairs_are_rarely_called_different(q, n_pairs):
    base, variant = np.array(RECORDED[q]["baseline"]), np.array(RECORDED[q]["variant"])
    rng = np.random.default_rng(0)
    said = []
    for _ in range(400):
        chosen = rng.choice(len(base), n_pairs, replace=False)
        swap = rng.random(n_pairs) < 0.5
        first = np.where(swap, variant[chosen], base[chosen])
        second = np.where(swap, base[chosen], variant[chosen])
        said.append(verdict(pair_ratio(first, second)))
    wrong = sum(one in ("faster", "slower") for one in said)
    assert wrong <= {"0.5": 0, "0.95": 12, "0.99": 16}[q]  # never for p50, at most 3 and 4 % of draws in the tails


def test_recorded_p50_excludes_one_about_as_often_as_it_claims():
    logs = np.log(np.array(RECORDED["0.5"]["variant"]) / np.array(RECORDED["0.5"]["baseline"]))
    rng = np.random.default_rng(0)
    excluded = 0
    for _ in range(2000):
        chosen = rng.choice(logs, 10, replace=False) * rng.choice([-1, 1], 10)
        found = pair_ratio(np.ones(10), np.exp(chosen))
        excluded += not found.low <= 1 <= found.high
    assert excluded / 2000 < 0.08


def test_calls_are_not_replicates():
    """Why pairs: treated as independent, the calls of one recorded pair call the same model different."""
    calls = RECORDED["calls_of_pair_0"]
    assert stats.mannwhitneyu(calls["baseline"], calls["variant"]).pvalue < 0.01


# ---------------------------------------------------------------- the limit holds
@pytest.mark.parametrize(
    ("q", "n_over", "total"),
    [
        (0.90, 0, 44), (0.90, 1, 64), (0.90, 5, 127),
        (0.95, 0, 90), (0.95, 1, 130), (0.95, 5, 259),
        (0.99, 0, 459), (0.99, 1, 662), (0.99, 5, 1307), (0.99, 10, 2010),
        (0.999, 0, 4603),
    ],
)  # fmt: skip
def test_early_stopping_vectors(q, n_over, total):
    assert early_stopping(n_over, q) == total


def test_early_stopping_is_the_binomial_tail():
    n = early_stopping(3, 0.97)
    assert stats.binom.cdf(3, n, 0.03) <= 0.01 < stats.binom.cdf(3, n - 1, 0.03)


@pytest.mark.parametrize(("q", "margin", "n"), [(0.99, 0.0005, 262_742), (0.90, 0.005, 23_886)])
def test_query_count_vectors(q, margin, n):
    assert query_count(q, margin) == n
