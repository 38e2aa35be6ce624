"""Does every bound hold as often as it says? A bound below the true loss would be a false certificate at the limit."""

import numpy as np
import pytest

from engine.quality.answers import Answers
from engine.quality.judged import Judged
from engine.quality.loss import Rows
from engine.quality.metrics import lose
from engine.quality.noninferiority import share_bound

ALPHA = 0.05
CLAIM = 0.06  # what may be missed at alpha 0.05
SIGMAS = 2.5  # what chance adds to that in so few simulations


def holds(missed, n):
    return missed / n <= CLAIM + SIGMAS * (CLAIM * (1 - CLAIM) / n) ** 0.5


def binary(rng, n, group=None):
    """Labels and probabilities of both models; rows of a group share a part of their errors."""
    labels = (rng.random(n) < 0.3).astype(int)
    before, change = rng.normal(size=n) + 1.5 * labels - 0.75, rng.normal(0, 0.4, n)
    if group:
        before += np.repeat(rng.normal(0, 0.7, n // group), group)
        change += np.repeat(rng.normal(0, 0.4, n // group), group)
    scores = [1 / (1 + np.exp(-1.5 * odds)) for odds in (before, before + change)]
    answers = [
        Answers(
            score=p,
            predicted=(p > 0.5).astype(int),
            confidence=np.maximum(p, 1 - p),
            label_probability=np.where(labels == 1, p, 1 - p),
        )
        for p in scores
    ]
    return labels, answers


def regression(rng, n, group=None):
    size = rng.gamma(2, 1, n)
    error, change = rng.standard_t(5, n) * size**0.5, rng.normal(0, 0.4, n)
    if group:
        error += np.repeat(rng.normal(0, 1, n // group), group)
        change += np.repeat(rng.normal(0, 0.4, n // group), group)
    return size, [Answers(score=size + error), Answers(score=size + error + change)]


def several(rng, n, group=None):
    """Four labels that come together, and errors that the labels of a row share."""
    together = rng.normal(size=(n, 1))
    labels = (0.6 * together + 0.8 * rng.normal(size=(n, 4)) > [0.0, 0.5, 0.9, 1.1]).astype(np.int8)
    before = rng.normal(size=(n, 4)) + 0.5 * rng.normal(size=(n, 1)) + 1.5 * labels - 0.75
    change = rng.normal(0, 0.3, (n, 4)) + rng.normal(0, 0.25, (n, 1))
    if group:
        before += np.repeat(rng.normal(0, 0.7, (n // group, 1)), group, axis=0)
        change += np.repeat(rng.normal(0, 0.4, (n // group, 1)), group, axis=0)
    scores = [1 / (1 + np.exp(-1.5 * odds)) for odds in (before, before + change)]
    return labels, [
        Answers(score=p, predicted=p > 0.5, label_probability=np.where(labels == 1, p, 1 - p)) for p in scores
    ]


def rows_of(metric, made, group=None):
    labels, (before, after) = made
    units = None if group is None else np.arange(len(labels)) // group
    return Judged(before, after, labels, None, units, None, 0.9).rows(metric)


def missed(metric, make, n, n_simulations, group=None):
    whole = make(np.random.default_rng(10**6), 300_000 if make is several else 900_000, group)
    truth = lose(metric, rows_of(metric, whole), ALPHA, bounded=False).drop
    bounds = [
        lose(metric, rows_of(metric, make(np.random.default_rng(seed), n, group), group), ALPHA, seed).bound
        for seed in range(n_simulations)
    ]
    return sum(bound < truth for bound in bounds)


@pytest.mark.parametrize(
    ("metric", "make", "n", "group"),
    [
        ("roc_auc", binary, 500, None),
        ("log_loss", binary, 500, None),
        ("brier", binary, 500, 10),
        ("f1", binary, 500, None),
        ("rmse", regression, 500, None),
        ("mae", regression, 600, 10),
        ("macro_roc_auc", several, 400, None),
        ("hamming_loss", several, 400, None),
    ],
)
def test_bounds_hold_in_a_few_simulations(metric, make, n, group):
    assert holds(missed(metric, make, n, 100, group), 100)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "make", "n", "group", "n_simulations"),
    [
        ("roc_auc", binary, 400, None, 1500),
        ("roc_auc", binary, 6000, None, 600),
        ("roc_auc", binary, 1500, 15, 1000),
        ("log_loss", binary, 400, None, 1000),
        ("log_loss", binary, 6000, None, 600),
        ("log_loss", binary, 1500, 15, 1500),
        ("brier", binary, 1500, 15, 1000),
        ("f1", binary, 400, None, 1000),
        ("f1", binary, 1500, 15, 300),
        ("pr_auc", binary, 400, None, 200),
        ("rmse", regression, 300, None, 1000),
        ("rmse", regression, 8000, None, 600),
        ("mae", regression, 1500, 15, 1000),
        ("pinball", regression, 300, None, 1000),
        ("macro_roc_auc", several, 400, None, 1500),
        ("macro_roc_auc", several, 6000, None, 400),
        ("macro_roc_auc", several, 1500, 15, 800),
        ("hamming_loss", several, 400, None, 1500),
        ("hamming_loss", several, 6000, None, 400),
        ("hamming_loss", several, 1500, 15, 800),
        ("subset_accuracy", several, 400, None, 1000),
        ("log_loss", several, 400, None, 800),
        ("brier", several, 1500, 15, 600),
        ("macro_f1", several, 400, None, 500),
        ("macro_f1", several, 1500, 15, 300),
        ("micro_f1", several, 400, None, 500),
    ],
)
def test_bounds_hold(metric, make, n, group, n_simulations):
    assert holds(missed(metric, make, n, n_simulations, group), n_simulations)


@pytest.mark.parametrize(("dependence", "n_simulations"), [(0.05, 400), (0.3, 400), (1.0, 400)])
def test_accuracy_with_groups_at_the_limit_rarely_passes(dependence, n_simulations):
    """200 groups of 5 rows, 2 % of the answers change, the loss is the limit: 1 %."""
    rng, passed = np.random.default_rng(0), 0
    for _ in range(n_simulations):
        lost, won = (_shared(rng, share, dependence) for share in (0.015, 0.005))
        before, after = ~won, ~(lost & ~won)
        passed += share_bound(before, after, None, np.arange(1000) // 5).upper <= 0.01
    assert holds(passed, n_simulations)


def _shared(rng, share, dependence):
    """(1000,) events of this share whose correlation within a group of five is `dependence`."""
    if dependence == 1.0:
        return np.repeat(rng.random(200) < share, 5)
    spread = (1 - dependence) / dependence
    own = rng.beta(share * spread, (1 - share) * spread, 200)
    return rng.random(1000) < np.repeat(own, 5)


def test_ndcg_bound_holds_over_queries():
    def made(rng, n_queries):
        relevance = rng.integers(0, 4, n_queries * 10).astype(float)
        scores = relevance + rng.normal(0, 1.5, n_queries * 10)
        changed = scores + rng.normal(0, 1, n_queries * 10)
        return Rows(scores, changed, relevance, queries=np.repeat(np.arange(n_queries), 10))

    truth = lose("ndcg_at_10", made(np.random.default_rng(10**6), 50_000), ALPHA, bounded=False).drop
    bounds = [lose("ndcg_at_10", made(np.random.default_rng(seed), 120), ALPHA).bound for seed in range(100)]
    assert holds(sum(bound < truth for bound in bounds), 100)


def test_the_same_answers_in_few_rows_do_not_exclude_a_loss_of_f1():
    """No flip among 10 positive rows still leaves room for a recall that is a quarter lower."""
    labels = np.repeat([0, 1], [490, 10])
    same = Answers(predicted=labels.copy())
    found = lose("f1", Judged(same, same, labels, None, None, None, 0.5).rows("f1"), ALPHA)
    assert found.drop == 0
    assert found.bound > 0.1
