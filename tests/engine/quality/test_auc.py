import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from engine.quality.auc import auc_bound, delong, delong_macro, has_both

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
    assert auc_bound(delong(LABELS, FIRST, FIRST)) == (0.0, 1.0)


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


# ---------------------------------------------------------------- several labels
def several(n, seed, k=3):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n, 1))
    labels = (shared + rng.normal(size=(n, k)) > np.linspace(0, 1.2, k)).astype(int)
    first = rng.normal(size=(n, k)) + shared / 2 + labels
    return labels, first, first + 0.3 * rng.normal(size=(n, 1)) + 0.2 * rng.normal(size=(n, k))


@pytest.mark.parametrize("units", [None, np.arange(600) // 4])
def test_one_label_is_delong(units):
    labels, first, second = noisy_scores(600, 3)
    weights = np.random.default_rng(5).random(600)
    macro = delong_macro(labels[:, None], first[:, None], second[:, None], weights, units)
    alone = delong(labels, first, second, weights, units)
    assert (macro.baseline, macro.candidate, macro.se) == pytest.approx((alone.baseline, alone.candidate, alone.se))


def test_the_mean_area_is_that_of_scikit_learn():
    labels, first, second = several(400, 1)
    weights = np.random.default_rng(2).random(400)
    pair = delong_macro(labels, first, second, weights)
    assert pair.baseline == pytest.approx(roc_auc_score(labels, first, average="macro", sample_weight=weights))
    assert pair.difference == pytest.approx(
        roc_auc_score(labels, second, average="macro", sample_weight=weights) - pair.baseline
    )


def test_labels_without_rows_of_both_kinds_are_left_out():
    labels, first, second = several(400, 1)
    labels[:, 0], labels[:, 2] = 1, 0
    assert has_both(labels).tolist() == [1]
    assert has_both(labels, (labels[:, 1] == 1).astype(float)).tolist() == []
    assert delong_macro(labels, first, second).baseline == pytest.approx(roc_auc_score(labels[:, 1], first[:, 1]))
    assert delong_macro(labels[:, :1], first[:, :1], second[:, :1]) is None


def test_the_error_of_a_mean_area_is_that_of_the_bootstrap_of_whole_rows():
    labels, first, second = several(600, 3)
    rng = np.random.default_rng(4)
    drawn = [rng.integers(0, 600, 600) for _ in range(250)]
    spread = np.std([delong_macro(labels[rows], first[rows], second[rows]).difference for rows in drawn])
    assert delong_macro(labels, first, second).se == pytest.approx(spread, rel=0.15)


def test_auc_bound_covers_its_claim():
    held = 0
    for seed in range(400):
        labels, first, second = noisy_scores(250, seed, spread=0.6)
        held += auc_bound(delong(labels, first, second)).upper >= TRUE_AUC_LOSS
    assert held / 400 >= 0.92


def true_auc_loss():
    labels, first, second = noisy_scores(1_000_000, 999, spread=0.6)
    return delong(labels, first, second).difference * -1


TRUE_AUC_LOSS = true_auc_loss()
