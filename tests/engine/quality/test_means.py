import math

import numpy as np
import pytest
from scipy import stats

from engine.quality.means import mean_bound, ratio_bound


def rmse_bound(first, second, weights=None, **more):
    return ratio_bound(first, second, weights, power=0.5, **more)


def test_many_rows_take_the_t_interval():
    drops = np.random.default_rng(0).exponential(size=6000) - 0.9
    oracle = stats.ttest_1samp(drops, 0, alternative="less").confidence_interval(0.95).high
    assert mean_bound(drops).upper == pytest.approx(oracle)


@pytest.mark.parametrize("n", [20, 200])
def test_few_rows_take_the_bca_bootstrap_of_scipy(n):
    drops = np.random.default_rng(n).exponential(size=n)
    oracle = stats.bootstrap(
        (drops,), np.mean, n_resamples=20_000, method="BCa", alternative="less", confidence_level=0.95, rng=1
    ).confidence_interval.high
    assert mean_bound(drops).upper == pytest.approx(oracle, abs=0.08 * drops.std() / math.sqrt(n) + 1e-9)


def test_equal_drops_have_no_width():
    assert mean_bound(np.full(50, 0.25)).upper == 0.25
    assert mean_bound(np.zeros(50)).upper == 0.0


def test_equal_weights_change_nothing():
    drops = np.random.default_rng(5).normal(size=7000)
    assert mean_bound(drops, np.full(7000, 3.0)).upper == pytest.approx(mean_bound(drops).upper)


# ---------------------------------------------------------------- RMSE
def squared_errors(n, seed, worse=1.05):
    rng = np.random.default_rng(seed)
    error = rng.standard_t(6, n)
    return error**2, (worse * error + rng.normal(0, 0.2, n)) ** 2


def rmse_ratio(first, second, axis=-1):
    return np.sqrt(second.mean(axis=axis) / first.mean(axis=axis)) - 1


def test_rmse_bound_is_that_of_scipy():
    first, second = squared_errors(400, 1)
    oracle = stats.bootstrap(
        (first, second), rmse_ratio, paired=True, n_resamples=20_000, method="BCa", alternative="less", rng=1
    ).confidence_interval.high
    middle = rmse_ratio(first, second)
    assert rmse_bound(first, second).upper - middle == pytest.approx(oracle - middle, rel=0.1)


def test_many_rows_give_the_same_rmse_bound_as_the_bootstrap():
    first, second = squared_errors(5000, 2)
    few = rmse_bound(first[:4999], second[:4999]).upper
    assert rmse_bound(first, second).upper == pytest.approx(few, abs=0.1 * (few - rmse_ratio(first, second)))


def test_rmse_bound_is_repeatable():
    first, second = squared_errors(300, 3)
    assert rmse_bound(first, second, seed=7).upper == rmse_bound(first, second, seed=7).upper
    assert rmse_bound(first, second, seed=7).upper != rmse_bound(first, second, seed=8).upper


def test_rmse_bound_with_weights_counts_rows():
    first, second = squared_errors(300, 4)
    weights = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    middle = math.sqrt(np.average(second, weights=weights) / np.average(first, weights=weights)) - 1
    assert middle < rmse_bound(first, second, weights).upper < middle + 0.05


def test_rmse_bound_covers_its_claim():
    true = math.sqrt((1.05**2 * 1.5 + 0.04) / 1.5) - 1  # variance of t(6) is 1.5
    held = sum(rmse_bound(*squared_errors(300, seed)).upper >= true for seed in range(300))
    assert held / 300 >= 0.91


def test_an_all_but_perfect_baseline_has_no_finite_bound():
    first = np.zeros(30)
    first[0] = 1.0
    assert rmse_bound(first, np.ones(30)).upper == np.inf
