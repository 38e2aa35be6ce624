import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as oracle

from engine.errors import BadData
from engine.quality.ranking import ndcg_per_query


def test_ndcg_vector():
    scores = np.array([4.0, 3.0, 2.0, 1.0])
    _, ndcg = ndcg_per_query(scores, np.array([3.0, 2.0, 0.0, 1.0]), np.zeros(4))
    assert ndcg == pytest.approx([0.992620], abs=5e-7)


@given(st.integers(0, 10_000))
def test_ndcg_is_that_of_scikit_learn_ties_included(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 25, 6)
    groups = rng.permutation(np.repeat([f"q{i}" for i in range(6)], sizes))
    relevance = rng.integers(0, 4, len(groups)).astype(float)
    scores = rng.integers(0, 5, len(groups)).astype(float)  # many ties
    names, got = ndcg_per_query(scores, relevance, groups)
    expected = {
        name: oracle.ndcg_score([2 ** relevance[groups == name] - 1], [scores[groups == name]], k=10)
        for name in np.unique(groups)
        if relevance[groups == name].max() > 0
    }
    assert dict(zip(names, got, strict=True)) == pytest.approx(expected)


def test_a_query_of_one_item_and_one_without_any():
    names, ndcg = ndcg_per_query(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 0.0]), np.array([7, 8, 8]))
    assert names.tolist() == [7]
    assert ndcg.tolist() == [1.0]


@pytest.mark.parametrize("relevance", [[-1.0, 2.0], [0.0, 100.0]])
def test_relevance_out_of_range_is_refused(relevance):
    with pytest.raises(BadData, match="relevance labels of 0 to 31"):
        ndcg_per_query(np.array([1.0, 2.0]), np.array(relevance), np.array([0, 0]))
