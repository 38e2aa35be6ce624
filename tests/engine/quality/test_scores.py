import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import special

from engine.errors import Mismatch
from engine.quality.scores import non_finite_rows, to_scores

LOGITS = arrays.arrays(np.float64, st.tuples(st.integers(1, 20), st.just(2)), elements=st.floats(-700, 700))


@given(LOGITS)
def test_two_logits_are_the_second_class_of_their_softmax(logits):
    expected = special.softmax(logits, axis=1)[:, 1]
    np.testing.assert_allclose(to_scores(logits, "logits", "binary"), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("shape", [(-1,), (-1, 1), (-1, 1, 1)])
def test_one_logit_passes_through_the_logistic(shape):
    logits = np.array([-800.0, -30.0, -1e-9, 0.0, 2.5, 800.0])
    scores = to_scores(logits.reshape(shape), "logits", "binary")
    np.testing.assert_allclose(scores, special.expit(logits), rtol=1e-14)
    assert scores[3] == 0.5


def test_a_raw_score_keeps_its_order_and_its_zero():
    scores = to_scores(np.array([-3.0, 0.0, 0.1, 9.0]), "raw score", "binary")
    assert (np.diff(scores) > 0).all()
    assert scores[1] == 0.5


@pytest.mark.parametrize(
    "output", [np.array([0.2, 0.9]), np.array([[0.2], [0.9]]), np.array([[0.8, 0.2], [0.1, 0.9]], np.float32)]
)
def test_probabilities_are_taken_as_they_are(output):
    scores = to_scores(output, "probabilities", "binary")
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, [0.2, 0.9], rtol=1e-7)


def test_multiclass_logits_become_probabilities_without_overflow():
    logits = np.array([[1000.0, 1001.0, 990.0], [-1e4, -1e4, -1e4]], np.float32)
    scores = to_scores(logits, "logits", "multiclass")
    np.testing.assert_allclose(scores, special.softmax(logits.astype(float), axis=1))


def test_multiclass_probabilities_stay():
    table = np.array([[0.1, 0.2, 0.7]])
    assert to_scores(table, "probabilities", "multiclass").tolist() == table.tolist()


@pytest.mark.parametrize("kind", ["logits", "raw score"])
def test_every_label_of_several_passes_through_the_logistic(kind):
    logits = np.array([[-800.0, 0.0, 2.5], [1.0, 800.0, -3.0]], np.float32)
    scores = to_scores(logits, kind, "multilabel")
    np.testing.assert_allclose(scores, special.expit(logits.astype(float)), rtol=1e-12)
    assert to_scores(scores, "probabilities", "multilabel").tolist() == scores.tolist()


@pytest.mark.parametrize("task", ["regression", "ranking"])
def test_one_number_per_row(task):
    assert to_scores(np.array([[1], [2]], np.int64), "value", task).tolist() == [1.0, 2.0]


def test_embeddings_and_other_outputs_keep_their_columns():
    assert to_scores(np.ones((3, 8), np.float32), "embedding", "embedding").shape == (3, 8)
    assert to_scores(np.ones((3, 2, 4)), "value", "other").shape == (3, 8)
    assert to_scores(np.ones((0, 4)), "value", "other").shape == (0, 4)


@pytest.mark.parametrize(
    ("output", "kind", "task", "said"),
    [
        (np.ones((4, 3)), "logits", "binary", "one or two columns; the output has 3"),
        (np.ones(4), "logits", "multiclass", "has one column"),
        (np.ones((4, 1)), "logits", "multilabel", "has one column"),
        (np.ones((4, 2)), "value", "multilabel", "declared as value"),
        (np.full((4, 2), 1.2), "probabilities", "multilabel", "4 of 4 rows lie outside 0..1"),
        (np.ones((4, 2)), "value", "regression", "one number per row; the output has 2"),
        (np.ones(4), "value", "binary", "declared as value"),
        (np.ones((4, 3)), "embedding", "multiclass", "declared as embedding"),
        (np.array(["a", "b"]), "probabilities", "binary", "not numbers"),
        (np.array([0.5, 3.2, -1.0]), "probabilities", "binary", r"2 of 3 rows lie outside 0..1 \(first: row 2, 3.2\)"),
        (np.array([0.5, np.nan, np.inf]), "logits", "binary", r"2 of 3 rows \(first: row 2\)"),
        (np.full((5, 3), np.nan), "embedding", "embedding", "5 of 5 rows"),
    ],
)
def test_what_cannot_be_a_score_is_refused(output, kind, task, said):
    with pytest.raises(Mismatch, match=said):
        to_scores(output, kind, task)


def test_rounding_past_one_is_a_probability():
    scores = to_scores(np.array([1.0004, -0.0003], np.float16), "probabilities", "binary")
    assert scores.tolist() == [1.0, 0.0]


def test_non_finite_rows_of_whole_numbers():
    assert not non_finite_rows(np.array([[1, 2]])).any()
    assert non_finite_rows(np.array([[1.0, 2.0], [np.inf, 1.0]])).tolist() == [False, True]
