import numpy as np
import pyarrow as pa
import pytest

from engine.data.canonical import text_digests
from engine.data.placement import Rows, among, arrange, with_calibration, with_train_rows
from engine.errors import BadData


def digests(values):
    return text_digests([str(value) for value in values])


def rows(split, labels=None, values=None, groups=None):
    n = len(split)
    return Rows(
        digests(range(n) if values is None else values),
        np.arange(n) % 2 if labels is None else np.array(labels),
        None if groups is None else digests(groups),
        None,
        pa.array(split, pa.string()),
        "part",
    )


def numbers(placement):
    return {name: placement.rows(name).tolist() for name in ("train", "calibration", "selection", "certification")}


def test_the_column_decides():
    found = arrange(rows(["train", "selection", "certification", "calibration", "train"]), 0)
    found = with_calibration(found, np.arange(5) % 2, digests(range(5)), 0)
    assert numbers(found) == {"train": [0, 4], "calibration": [3], "selection": [1], "certification": [2]}
    assert found.notes == ()


def test_usual_words_are_understood_and_said():
    found = arrange(rows(["Train", "VALID", "test", None, "train "]), 0)
    assert found.codes.tolist() == [0, 2, 3, -1, 0]
    assert found.notes == (
        "Split column part: Train as train, VALID as selection, test as certification, train  as train",
        "Split column part: 1 rows with an empty cell left out",
    )


def test_calibration_comes_from_train_where_none_is_named():
    found = with_calibration(arrange(rows(["train"] * 3 + ["val"]), 0), np.array([0, 1, 0, 1]), digests(range(4)), 0)
    assert found.rows("calibration").tolist() == found.rows("train").tolist() == [0, 1, 2]


def test_an_unknown_word_is_refused():
    with pytest.raises(BadData, match="split column part holds week 1, week 2; it may say train"):
        arrange(rows(["week 1", "train", "week 2"]), 0)


def test_only_train_leaves_nothing_to_judge():
    with pytest.raises(BadData, match="no rows for selection or certification"):
        arrange(rows(["train"] * 5), 0)


def test_a_test_set_gives_two_sevenths_for_comparing():
    found = arrange(rows(["train"] * 30 + ["test"] * 70), 0)
    assert [(found.codes == code).sum() for code in (0, 2, 3)] == [30, 20, 50]
    assert "20 of 70 certification rows are used to compare variants" in found.notes[-1]


def test_without_certification_rows_it_is_said():
    found = arrange(rows(["train", "val", "val"]), 0)
    assert "none can be certified" in found.notes[-1]


def test_train_rows_equal_to_evaluation_rows_are_left_out():
    values = [*range(200)]
    values[0] = values[150]
    found = arrange(rows(["train"] * 100 + ["val"] * 50 + ["test"] * 50, values=values), 0)
    assert found.codes[0] == -1
    assert (found.codes == 0).sum() == 99
    assert found.notes[-1] == "1 train rows left out: the same inputs are among the evaluation rows"


def test_equal_inputs_are_no_leakage_where_they_repeat_everywhere():
    found = arrange(rows(["train"] * 100 + ["val"] * 100, values=[0, 1] * 100), 0)
    assert (found.codes == 0).sum() == 100
    assert "99% of the rows repeat another row's inputs" in found.notes[-1]


def test_train_rows_of_an_evaluated_group_are_left_out():
    found = arrange(rows(["train", "train", "val", "test"], groups=["a", "b", "b", "c"]), 0)
    assert found.codes.tolist() == [0, -1, 2, 3]
    assert found.notes[1] == "1 train rows left out: their group is among the evaluation rows"


def test_unlabelled_rows_are_not_judged():
    found = arrange(rows(["train", "val", "val", "test"], labels=[-1, -1, 0, 1]), 0)
    assert found.codes.tolist() == [0, -1, 2, 3]


def test_one_group_cannot_be_split():
    with pytest.raises(
        BadData, match="of 50 rows none is left to compare variants on; bring more rows, or more groups"
    ):
        arrange(Rows(digests(range(50)), np.arange(50) % 2, digests(["a"] * 50)), 0)


def test_groups_with_equal_rows_do_not_leak():
    """Groups stay whole; a train row that equals an evaluation row of another group is left out."""
    values = [*range(100), *range(100)]
    groups = [f"g{at}" for at in range(200)]
    found = arrange(Rows(digests(values), np.arange(200) % 2, digests(groups)), 0)
    judged = {values[at] for at in np.flatnonzero(found.codes >= 2)}
    assert not judged & {values[at] for at in np.flatnonzero(found.codes == 0)}
    assert "the same inputs are among the evaluation rows" in found.notes[-1]


def test_further_rows_train():
    found = with_train_rows(arrange(rows(["train", "val", "test"]), 0), 2)
    assert found.codes.tolist() == [0, 2, 3, 0, 0]


def test_among():
    assert among(digests([1, 2, 3]), digests([3, 1])).tolist() == [True, False, True]
    assert among(digests([1]), digests([])).tolist() == [False]
