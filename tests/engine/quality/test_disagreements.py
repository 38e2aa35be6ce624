import numpy as np
import pandas as pd
import pytest

from engine.errors import BadData, InvalidRequest
from engine.quality.disagreements import worst_rows
from engine.records import Signature

CLASSES = ("cat", "dog")


def signature(task="binary", kind="probabilities", classes=CLASSES):
    return Signature(inputs=(), outputs=(), task=task, classes=classes, score_output="s", output_kind=kind)


BEFORE = np.array([0.9, 0.9, 0.1, 0.6, 0.2, 0.3])
AFTER = np.array([0.4, 0.1, 0.7, 0.6, 0.25, 0.8])
LABELS = np.array([1, 1, 1, 1, 0, -1])
ROWS = pd.DataFrame({"row": [100, 101, 102, 103, 104, 105], "slice:city": ["Bonn", "Ulm", "Bonn", "Ulm", None, "Ulm"]})


def worst(**more):
    return worst_rows(BEFORE, AFTER, LABELS, ROWS, signature(), **more)


def test_harm_comes_first_then_size_and_equal_rows_are_left_out():
    assert [(one.row, one.kind) for one in worst()] == [
        (102, "bad flip"),  # 0.9 -> 0.1
        (101, "bad flip"),  # 0.9 -> 0.4
        (106, "other flip"),  # nobody knows
        (103, "good flip"),
        (105, "differs"),
    ]


def test_a_row_shows_both_answers():
    first = worst()[0]
    assert (first.label, first.baseline, first.candidate) == ("dog", "dog", "cat")
    assert (first.baseline_score, first.candidate_score) == (0.9, 0.9)  # of the class that each names
    assert first.difference == pytest.approx(0.8)
    assert first.kl_nats > 1
    assert first.slices == {"city": "Ulm"}
    assert worst()[2].label is None
    assert worst()[4].slices == {"city": "(missing)"}


def test_a_slice_narrows_and_a_limit_cuts():
    assert [one.row for one in worst(within=[("city", "Bonn")])] == [101, 103]
    assert [one.row for one in worst(limit=1)] == [102]
    with pytest.raises(InvalidRequest, match=r"no row has city = 'Rome'; it has \(missing\), Bonn, Ulm"):
        worst(within=[("city", "Rome")])
    with pytest.raises(BadData, match="'town'"):
        worst(within=[("town", "Rome")])


def test_without_labels_flips_have_no_side():
    found = worst_rows(BEFORE, AFTER, None, ROWS, signature())
    assert [one.kind for one in found] == ["other flip"] * 4 + ["differs"]
    assert found[0].label is None


def test_regression_says_where_the_error_grew():
    truth, before = np.array([1.0, 1.0, np.nan, 4.0]), np.array([1.5, 3.0, 1.0, 4.0])
    found = worst_rows(before, np.array([2.0, 2.0, 2.0, 4.0]), truth, ROWS[:4], signature("regression", "value", None))
    assert [(one.row, one.kind, one.label) for one in found] == [
        (101, "worse", "1"),
        (102, "better", "1"),
        (103, "differs", None),
    ]
    assert (found[0].baseline, found[0].candidate, found[0].difference) == ("1.5", "2", 0.5)


def test_a_row_without_an_answer_is_the_worst():
    after = AFTER.copy()
    after[4] = np.nan
    first = worst_rows(BEFORE, after, LABELS, ROWS, signature())[0]
    assert (first.row, first.kind, first.candidate) == (105, "no answer", "–")
    assert (first.candidate_score, first.difference, first.kl_nats) == (None, None, None)


def test_embeddings_have_a_distance_only():
    rng = np.random.default_rng(0)
    before = rng.normal(size=(6, 4))
    after = before.copy()
    after[2] += 1
    found = worst_rows(before, after, None, ROWS, signature("embedding", "embedding", None))
    assert [(one.row, one.baseline, one.difference) for one in found] == [(103, "–", pytest.approx(1.0))]


def test_the_same_answers_have_nothing_to_show():
    assert worst_rows(BEFORE, BEFORE.copy(), LABELS, ROWS, signature()) == []
