import numpy as np
import pytest

from engine.quality.loss import Rows, loss
from engine.quality.noninferiority import tango_upper


def rows(n=400, **more):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n)
    before = np.clip(0.5 + (labels - 0.5) * 0.5 + rng.normal(0, 0.3, n), 0, 1)
    return Rows(before, np.clip(before + rng.normal(0, 0.1, n), 0, 1), labels, **more)


def test_accuracy_is_bounded_by_tango():
    held = rows()
    right = [(scores > 0.5) == held.labels for scores in (held.baseline, held.candidate)]
    found = loss("accuracy", held, 0.05)
    assert (found.baseline, found.candidate) == (right[0].mean(), right[1].mean())
    assert found.drop == found.baseline - found.candidate
    assert found.bound == tango_upper(int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum()), 400)


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc"])
def test_no_bound_when_none_is_wanted(metric):
    found = loss(metric, rows(), 0.05, bounded=False)
    assert found.drop is not None
    assert found.bound is None


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "rmse"])
def test_a_row_of_weight_zero_counts_for_nothing(metric):
    whole = rows(weights=np.r_[np.ones(300), np.zeros(100)])
    part = whole.of(np.arange(400) < 300)
    weighted, plain = loss(metric, whole, 0.05), loss(metric, part, 0.05)
    assert (weighted.baseline, weighted.candidate, weighted.drop) == pytest.approx(
        (plain.baseline, plain.candidate, plain.drop)
    )
    assert weighted.bound > weighted.drop


def test_rmse_drop_is_relative():
    truth = np.arange(200.0)
    found = loss("rmse", Rows(truth + 2, truth + 3, truth), 0.05)
    assert (found.baseline, found.candidate, found.drop) == (2, 3, 0.5)
    assert found.bound == pytest.approx(0.5)


def test_a_perfect_baseline_has_no_relative_drop():
    truth = np.arange(200.0)
    assert loss("rmse", Rows(truth, truth, truth), 0.05).drop == 0
    found = loss("rmse", Rows(truth, truth + 1, truth), 0.05)
    assert (found.drop, found.bound, found.candidate) == (None, None, 1)
    assert found.reason == "the original has no error here, the candidate has"


def test_ndcg_counts_queries():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), 10)
    relevance = rng.integers(0, 3, 400).astype(float)
    relevance[groups < 5] = 0
    before = relevance + rng.normal(size=400)
    found = loss("ndcg_at_10", Rows(before, before + rng.normal(size=400), relevance, groups=groups), 0.05)
    assert found.n_units == 35
    assert 0 < found.drop < found.bound < 1


def test_ndcg_weighs_queries():
    relevance = np.array([1.0, 0.0, 1.0, 0.0])
    good, bad = np.array([2.0, 1.0, 2.0, 1.0]), np.array([2.0, 1.0, 1.0, 2.0])
    held = Rows(good, bad, relevance, weights=np.array([1.0, 1.0, 0.0, 0.0]), groups=np.array([0, 0, 1, 1]))
    assert loss("ndcg_at_10", held, 0.05).drop == 0


def test_retrieval_is_accuracy_of_the_neighbour():
    held = Rows(np.zeros((100, 2)), np.zeros((100, 2)), same=np.arange(100) >= 3)
    found = loss("retrieval_agreement", held, 0.05)
    assert (found.baseline, found.candidate) == (1.0, 0.97)
    assert found.bound == tango_upper(3, 0, 100)


@pytest.mark.parametrize(
    ("metric", "held", "said"),
    [
        ("roc_auc", rows().of(rows().labels == 1), "only one class"),
        ("accuracy", rows().of(np.zeros(400, bool)), "no labelled row"),
        ("roc_auc", rows(weights=np.zeros(400)), "all rows have the weight 0"),
        ("roc_auc", rows(weights=rows().labels.astype(float)), "only one class"),
        ("ndcg_at_10", rows(groups=np.arange(400)).of(rows().labels == 0), "no query has a relevant item"),
    ],
)
def test_where_the_metric_does_not_exist(metric, held, said):
    found = loss(metric, held, 0.05)
    assert found.reason == said
    assert found.drop is None
