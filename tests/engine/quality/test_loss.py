import numpy as np
import pytest

from engine.quality.loss import Rows
from engine.quality.metrics import lose
from engine.quality.noninferiority import tango_upper
from tests.engine.quality.answering import judged_rows


def answers(n=400, spread=0.1):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n)
    before = np.clip(0.5 + (labels - 0.5) * 0.5 + rng.normal(0, 0.3, n), 0, 1)
    return before, np.clip(before + rng.normal(0, spread, n), 0, 1), labels


def rows(metric, n=400, **more):
    return judged_rows(metric, *answers(n), "binary", **more)


BINARY = ["accuracy", "roc_auc", "pr_auc", "f1", "log_loss", "brier"]


def test_accuracy_is_bounded_by_tango():
    before, after, labels = answers()
    right = [(scores > 0.5) == labels for scores in (before, after)]
    found = lose("accuracy", rows("accuracy"), 0.05)
    assert (found.baseline, found.candidate) == (right[0].mean(), right[1].mean())
    assert found.drop == found.baseline - found.candidate
    assert found.bound == tango_upper(int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum()), 400)


@pytest.mark.parametrize("metric", BINARY)
def test_no_bound_when_none_is_wanted(metric):
    found = lose(metric, rows(metric), 0.05, bounded=False)
    assert found.drop is not None
    assert found.bound is None


@pytest.mark.parametrize("metric", BINARY)
def test_the_bound_lies_above_the_drop_and_grows_with_certainty(metric):
    found, surer = (lose(metric, rows(metric), alpha) for alpha in (0.05, 0.01))
    assert found.drop < found.bound < surer.bound
    assert 0 < found.harm_p < 1


@pytest.mark.parametrize("metric", BINARY)
def test_a_row_of_weight_zero_counts_for_nothing(metric):
    weighted = lose(metric, rows(metric, weights=np.r_[np.ones(300), np.zeros(100)]), 0.05)
    plain = lose(metric, rows(metric).of(np.arange(400) < 300), 0.05)
    assert (weighted.baseline, weighted.candidate, weighted.drop) == pytest.approx(
        (plain.baseline, plain.candidate, plain.drop)
    )
    assert weighted.bound - weighted.drop == pytest.approx(plain.bound - plain.drop, rel=0.25)


@pytest.mark.parametrize("metric", BINARY)
def test_twins_in_one_group_count_once(metric):
    """Every row twice, the copies in one group: the drop is that of the single rows, and so is about its bound."""
    before, after, labels = (np.repeat(part, 2) for part in answers())
    twice = judged_rows(metric, before, after, labels, "binary", groups=np.repeat(np.arange(400), 2))
    found, once = lose(metric, twice, 0.05), lose(metric, rows(metric), 0.05)
    assert twice.n_units == 400
    assert found.drop == pytest.approx(once.drop)
    assert found.bound - found.drop == pytest.approx(once.bound - once.drop, rel=0.25)


def test_groups_of_one_row_are_rows():
    assert judged_rows("accuracy", *answers(), "binary", groups=np.arange(400)).units is None


def test_rmse_drop_is_relative():
    truth = np.arange(200.0)
    found = lose("rmse", judged_rows("rmse", truth + 2, truth + 3, truth, "regression", "value"), 0.05)
    assert (found.baseline, found.candidate, found.drop) == (2, 3, 0.5)
    assert found.bound == pytest.approx(0.5)


@pytest.mark.parametrize("metric", ["rmse", "mae", "pinball"])
def test_a_perfect_baseline_has_no_relative_drop(metric):
    truth = np.arange(200.0)
    same = lose(metric, judged_rows(metric, truth, truth, truth, "regression", "value"), 0.05)
    assert (same.drop, same.bound) == (0, 0)
    found = lose(metric, judged_rows(metric, truth, truth + 2, truth, "regression", "value", tau=0.5), 0.05)
    assert (found.drop, found.bound) == (None, None)
    assert found.candidate > 0
    assert found.reason == "the original has no error here, the candidate has"


def ranked(before, after, relevance, queries, weights=None):
    return judged_rows("ndcg_at_10", before, after, relevance, "ranking", "value", groups=queries, weights=weights)


def test_ndcg_counts_queries():
    rng = np.random.default_rng(1)
    queries = np.repeat(np.arange(40), 10)
    relevance = rng.integers(0, 3, 400).astype(float)
    relevance[queries < 5] = 0
    before = relevance + rng.normal(size=400)
    found = lose("ndcg_at_10", ranked(before, before + rng.normal(size=400), relevance, queries), 0.05)
    assert found.n_units == 35
    assert 0 < found.drop < found.bound < 1


def test_ndcg_weighs_queries():
    relevance = np.array([1.0, 0.0, 1.0, 0.0])
    good, bad = np.array([2.0, 1.0, 2.0, 1.0]), np.array([2.0, 1.0, 1.0, 2.0])
    weights, queries = np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 1])
    assert lose("ndcg_at_10", ranked(good, bad, relevance, queries, weights), 0.05).drop == 0


def test_retrieval_is_accuracy_of_the_neighbour():
    held = Rows(np.ones(100, bool), np.arange(100) >= 3)
    found = lose("retrieval_agreement", held, 0.05)
    assert (found.baseline, found.candidate) == (1.0, 0.97)
    assert found.bound == tango_upper(3, 0, 100)


@pytest.mark.parametrize(
    ("metric", "held", "said"),
    [
        *((metric, rows(metric).of(answers()[2] == 1), "only one class") for metric in ("roc_auc", "pr_auc", "f1")),
        ("accuracy", rows("accuracy").of(np.zeros(400, bool)), "no labelled row"),
        ("roc_auc", rows("roc_auc", weights=np.zeros(400)), "all rows have the weight 0"),
        ("roc_auc", rows("roc_auc", weights=answers()[2].astype(float)), "only one class"),
        (
            "ndcg_at_10",
            ranked(np.zeros(9), np.zeros(9), np.zeros(9), np.arange(9)),
            "no query has a relevant item",
        ),
    ],
)
def test_where_the_metric_does_not_exist(metric, held, said):
    found = lose(metric, held, 0.05)
    assert found.reason == said
    assert found.drop is None
