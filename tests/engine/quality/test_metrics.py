import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as oracle

from engine.errors import BadData, InvalidRequest
from engine.quality import metrics


@pytest.mark.parametrize(
    ("task", "labelled", "expected"),
    [
        ("binary", True, "roc_auc"),
        ("multiclass", True, "accuracy"),
        ("regression", True, "rmse"),
        ("ranking", True, "ndcg_at_10"),
        ("embedding", False, "retrieval_agreement"),
        ("binary", False, None),
        ("other", True, None),
    ],
)
def test_the_metric_follows_the_task(task, labelled, expected):
    assert metrics.auto_metric(task, labelled=labelled) == expected


def test_only_rmse_has_no_fixed_scale():
    assert [name for name in metrics.FITS if metrics.is_relative(name)] == ["rmse"]
    assert not metrics.is_relative(None)


def test_a_metric_that_does_not_fit_is_refused():
    with pytest.raises(InvalidRequest, match="roc_auc cannot judge a multiclass task; use accuracy"):
        metrics.check_fits("roc_auc", "multiclass")
    metrics.check_fits("accuracy", "binary")


def test_accuracy_of_both_forms_of_scores():
    labels = np.array([0, 1, 1, 0])
    second = np.array([0.2, 0.9, 0.5, 0.5])  # a tie goes to the first class
    assert metrics.accuracy(second, labels) == 0.75
    assert metrics.accuracy(np.stack([1 - second, second], axis=1), labels) == 0.75
    assert metrics.accuracy(second, labels, np.array([1, 1, 2, 0])) == 0.5


def test_rmse_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth, guess, weights = rng.normal(size=50), rng.normal(size=50), rng.random(50)
    expected = oracle.root_mean_squared_error(truth, guess, sample_weight=weights)
    assert metrics.rmse(guess, truth, weights) == pytest.approx(expected)


# ---------------------------------------------------------------- NDCG
def test_ndcg_vector():
    scores = np.array([4.0, 3.0, 2.0, 1.0])
    _, ndcg = metrics.ndcg_per_query(scores, np.array([3.0, 2.0, 0.0, 1.0]), np.zeros(4))
    assert ndcg == pytest.approx([0.992620], abs=5e-7)


@given(st.integers(0, 10_000))
def test_ndcg_is_that_of_scikit_learn_ties_included(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 25, 6)
    groups = rng.permutation(np.repeat([f"q{i}" for i in range(6)], sizes))
    relevance = rng.integers(0, 4, len(groups)).astype(float)
    scores = rng.integers(0, 5, len(groups)).astype(float)  # many ties
    names, got = metrics.ndcg_per_query(scores, relevance, groups)
    expected = {
        name: oracle.ndcg_score([2 ** relevance[groups == name] - 1], [scores[groups == name]], k=10)
        for name in np.unique(groups)
        if relevance[groups == name].max() > 0
    }
    assert dict(zip(names, got, strict=True)) == pytest.approx(expected)


def test_a_query_of_one_item_and_one_without_any():
    names, ndcg = metrics.ndcg_per_query(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 0.0]), np.array([7, 8, 8]))
    assert names.tolist() == [7]
    assert ndcg.tolist() == [1.0]


@pytest.mark.parametrize("relevance", [[-1.0, 2.0], [0.0, 100.0]])
def test_relevance_out_of_range_is_refused(relevance):
    with pytest.raises(BadData, match="relevance labels of 0 to 31"):
        metrics.ndcg_per_query(np.array([1.0, 2.0]), np.array(relevance), np.array([0, 0]))


# ---------------------------------------------------------------- retrieval
def brute(vectors):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    near = unit @ unit.T
    np.fill_diagonal(near, -np.inf)
    return near.argmax(axis=1)


def test_same_neighbour_is_brute_force(monkeypatch):
    monkeypatch.setattr(metrics, "CHUNK_ROWS", 7)
    rng = np.random.default_rng(0)
    before = rng.normal(size=(60, 8))
    after = before + rng.normal(0, 0.5, size=before.shape)
    same = metrics.same_neighbour(before, after)
    assert same.tolist() == (brute(before) == brute(after)).tolist()
    assert 0 < same.sum() < 60


def test_scale_does_not_matter_and_twins_are_interchangeable():
    rng = np.random.default_rng(1)
    before = np.repeat(rng.normal(size=(10, 4)), 3, axis=0)  # every row has two twins
    after = before * 3 + rng.normal(0, 1e-4, size=before.shape)
    assert metrics.same_neighbour(before, after).all()


def test_many_rows_look_in_a_sample(monkeypatch):
    monkeypatch.setattr(metrics, "CORPUS_ROWS", 20)
    vectors = np.random.default_rng(2).normal(size=(90, 4))
    assert metrics.same_neighbour(vectors, vectors).all()
    assert not metrics.same_neighbour(vectors, vectors[::-1]).all()
