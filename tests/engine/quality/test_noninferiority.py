import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from engine.quality.noninferiority import (
    auc_upper,
    delong,
    mean_upper,
    rmse_upper,
    rows_needed,
    tango_upper,
    tango_z,
)

Z = 1.6448536


# ---------------------------------------------------------------- Tango
@pytest.mark.parametrize(
    ("lost", "won", "n", "margin", "z", "upper", "passes"),
    [
        (10, 8, 2000, 0.005, -1.7209, 0.004799, True),
        (10, 8, 1000, 0.005, -0.6926, 0.009583, False),
        (0, 0, 539, 0.005, -1.6458, 0.004994, True),
        (0, 0, 538, 0.005, -1.6442, 0.005004, False),
        (30, 10, 5000, 0.01, -3.7795, 0.006261, True),
        (5, 3, 540, 0.01, -1.0868, 0.014029, False),
    ],
)
def test_tango_vectors(lost, won, n, margin, z, upper, passes):
    assert tango_z(lost, won, n, margin) == pytest.approx(z, abs=5e-5)
    assert tango_upper(lost, won, n) == pytest.approx(upper, abs=5e-7)
    assert (tango_z(lost, won, n, margin) <= -Z) == passes == (tango_upper(lost, won, n) <= margin)


def test_tango_two_sided_interval_of_fagerland():
    assert tango_upper(1, 7, 21, alpha=0.025) == pytest.approx(-0.02600, abs=5e-6)
    assert -tango_upper(7, 1, 21, alpha=0.025) == pytest.approx(-0.51723, abs=5e-6)


@pytest.mark.parametrize(("lost", "won", "n"), [(0, 0, 1), (5, 0, 5), (0, 5, 5), (3, 3, 6), (1, 0, 10**6), (0, 1, 2)])
def test_tango_extremes_stay_in_range(lost, won, n):
    upper = tango_upper(lost, won, n)
    assert (lost - won) / n <= upper <= 1.0


@pytest.mark.parametrize(
    ("n", "discordance", "margin", "measured"),
    [(500, 0.02, 0.01, 0.044), (2000, 0.02, 0.01, 0.046), (5000, 0.02, 0.01, 0.047), (200, 0.02, 0.02, 0.017)],
)
def test_a_model_at_the_limit_rarely_passes(n, discordance, margin, measured):
    lost_share = (discordance + margin) / 2
    draws = np.random.default_rng(0).multinomial(n, [lost_share, discordance - lost_share, 1 - discordance], 4000)
    cells, counts = np.unique(draws[:, :2], axis=0, return_counts=True)
    passed = sum(count for (lost, won), count in zip(cells, counts, strict=True) if tango_z(lost, won, n, margin) <= -Z)
    assert passed / 4000 <= 0.06
    assert passed / 4000 == pytest.approx(measured, abs=0.012)


@pytest.mark.parametrize(
    ("discordance", "margin", "at_80", "at_90"),
    [
        (0.005, 0.005, 1717, 2271),
        (0.01, 0.005, 2800, 3809),
        (0.01, 0.01, 856, 1132),
        (0.02, 0.005, 5131, 7068),
        (0.02, 0.01, 1397, 1901),
        (0.05, 0.01, 3162, 4366),
        (0.05, 0.02, 837, 1146),
    ],
)
def test_rows_needed_vectors(discordance, margin, at_80, at_90):
    assert rows_needed(discordance, margin) == at_80
    assert rows_needed(discordance, margin, power=0.9) == at_90


# ---------------------------------------------------------------- DeLong
LABELS = np.array([0, 0, 0, 0, 1, 1, 1, 1])
FIRST = np.array([0.1, 0.4, 0.35, 0.8, 0.45, 0.7, 0.6, 0.9])


@pytest.mark.parametrize(
    ("second", "auc", "difference", "se"),
    [
        ([0.1, 0.5, 0.3, 0.85, 0.4, 0.65, 0.72, 0.8], 0.6875, -0.125, 0.1020621),
        ([0.1, 0.5, 0.3, 0.7, 0.4, 0.65, 0.72, 0.9], 0.8125, 0.0, 0.1443376),
    ],
)
def test_delong_vectors(second, auc, difference, se):
    pair = delong(LABELS, FIRST, np.array(second))
    assert (pair.baseline, pair.candidate, pair.difference) == pytest.approx((0.8125, auc, difference))
    assert pair.se == pytest.approx(se, abs=5e-8)


def test_identical_scores_pass_with_no_width():
    assert auc_upper(LABELS, FIRST, FIRST) == 0.0


def noisy_scores(n, seed, spread=0.3):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    first = rng.normal(size=n) + labels
    return labels, first.round(1), (first + rng.normal(0, spread, n)).round(1)  # rounded: ties


def test_weighted_delong_has_the_auc_of_scikit_learn():
    labels, first, second = noisy_scores(300, 1)
    weights = np.random.default_rng(2).random(300) * 3
    pair = delong(labels, first, second, weights)
    assert pair.baseline == pytest.approx(roc_auc_score(labels, first, sample_weight=weights))
    assert pair.candidate == pytest.approx(roc_auc_score(labels, second, sample_weight=weights))
    assert delong(labels, first, second, np.full(300, 2.0)).se == pytest.approx(delong(labels, first, second).se)


@pytest.mark.parametrize("weighted", [False, True])
def test_delong_error_is_that_of_the_bootstrap(weighted):
    labels, first, second = noisy_scores(600, 3)
    rng = np.random.default_rng(4)
    weights = rng.random(600) + 0.2 if weighted else np.ones(600)
    differences = []
    for _ in range(500):
        rows = np.r_[*(rng.choice(np.flatnonzero(labels == one), (labels == one).sum()) for one in (0, 1))]
        pair = delong(labels[rows], first[rows], second[rows], weights[rows])
        differences.append(pair.difference)
    assert delong(labels, first, second, weights).se == pytest.approx(np.std(differences), rel=0.12)


def test_auc_bound_covers_its_claim():
    held = 0
    for seed in range(400):
        labels, first, second = noisy_scores(250, seed, spread=0.6)
        held += auc_upper(labels, first, second) >= TRUE_AUC_LOSS
    assert held / 400 >= 0.92


def true_auc_loss():
    labels, first, second = noisy_scores(1_000_000, 999, spread=0.6)
    return delong(labels, first, second).difference * -1


TRUE_AUC_LOSS = true_auc_loss()


# ---------------------------------------------------------------- means
def test_many_rows_take_the_t_interval():
    drops = np.random.default_rng(0).exponential(size=6000) - 0.9
    oracle = stats.ttest_1samp(drops, 0, alternative="less").confidence_interval(0.95).high
    assert mean_upper(drops) == pytest.approx(oracle)


@pytest.mark.parametrize("n", [20, 200])
def test_few_rows_take_the_bca_bootstrap_of_scipy(n):
    drops = np.random.default_rng(n).exponential(size=n)
    oracle = stats.bootstrap(
        (drops,), np.mean, n_resamples=20_000, method="BCa", alternative="less", confidence_level=0.95, rng=1
    ).confidence_interval.high
    assert mean_upper(drops) == pytest.approx(oracle, abs=0.08 * drops.std() / math.sqrt(n) + 1e-9)


def test_equal_drops_have_no_width():
    assert mean_upper(np.full(50, 0.25)) == 0.25
    assert mean_upper(np.zeros(50)) == 0.0


def test_equal_weights_change_nothing():
    drops = np.random.default_rng(5).normal(size=7000)
    assert mean_upper(drops, np.full(7000, 3.0)) == pytest.approx(mean_upper(drops))


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
    assert rmse_upper(first, second) - middle == pytest.approx(oracle - middle, rel=0.1)


def test_many_rows_give_the_same_rmse_bound_as_the_bootstrap():
    first, second = squared_errors(5000, 2)
    few = rmse_upper(first[:4999], second[:4999])
    assert rmse_upper(first, second) == pytest.approx(few, abs=0.1 * (few - rmse_ratio(first, second)))


def test_rmse_bound_is_repeatable():
    first, second = squared_errors(300, 3)
    assert rmse_upper(first, second, seed=7) == rmse_upper(first, second, seed=7)
    assert rmse_upper(first, second, seed=7) != rmse_upper(first, second, seed=8)


def test_rmse_bound_with_weights_counts_rows():
    first, second = squared_errors(300, 4)
    weights = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    middle = math.sqrt(np.average(second, weights=weights) / np.average(first, weights=weights)) - 1
    assert middle < rmse_upper(first, second, weights) < middle + 0.05


def test_rmse_bound_covers_its_claim():
    true = math.sqrt((1.05**2 * 1.5 + 0.04) / 1.5) - 1  # variance of t(6) is 1.5
    held = sum(rmse_upper(*squared_errors(300, seed)) >= true for seed in range(300))
    assert held / 300 >= 0.91


def test_an_all_but_perfect_baseline_has_no_finite_bound():
    first = np.zeros(30)
    first[0] = 1.0
    assert rmse_upper(first, np.ones(30)) == np.inf
