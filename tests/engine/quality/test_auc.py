import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from engine.quality.auc import auc_bound, delong

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
