import numpy as np
import pytest

from engine.data.slices import MOST_VALUES, slice_column
from engine.errors import BadData


def texts(found):
    return [found.values[code] for code in found.codes]


def test_texts_are_slices_as_they_are(store):
    found = slice_column(store(city=["Oslo", None, "NA", "Oslo"]), "city", np.arange(4))
    assert texts(found) == ["Oslo", "(missing)", "NA", "Oslo"]
    assert [(one.value, one.n_rows) for one in found.counts()] == [("Oslo", 2), ("NA", 1), ("(missing)", 1)]


def test_few_whole_numbers_are_values(store):
    found = slice_column(store(hour=[7.0, 8.0, None, 7.0]), "hour", np.arange(4))
    assert texts(found) == ["7", "8", "(missing)", "7"]
    assert {one.value for one in found.counts()} == {"7", "8", "(missing)"}


def test_true_and_false(store):
    assert texts(slice_column(store(flag=[True, False, None]), "flag", np.arange(3))) == ["True", "False", "(missing)"]


def test_numbers_are_cut_at_the_quarters_of_the_train_rows(store):
    values = [*range(100), *range(1000, 1100)]
    found = slice_column(store(x=[float(value) for value in values]), "x", np.arange(100))
    assert found.values == ("up to 24.75", "24.75 to 49.5", "49.5 to 74.25", "above 74.25", "(missing)")
    assert np.bincount(found.codes).tolist() == [25, 25, 25, 125]
    assert texts(found)[25] == "24.75 to 49.5"


def test_equal_quarters_are_one(store):
    values = [0.0] * 80 + [0.5, 1.5, 2.5, 3.5] * 5
    found = slice_column(store(x=values), "x", np.arange(100))
    assert found.values == ("up to 0", "above 0", "(missing)")


def test_close_quarters_keep_their_digits(store):
    values = [1e6 + at / 7 for at in range(100)]
    names = slice_column(store(x=values), "x", np.arange(100)).values
    assert len(set(names)) == 5


def test_without_train_rows_all_rows_decide(store):
    found = slice_column(store(x=[at + 0.5 for at in range(100)]), "x", np.array([], int))
    assert np.bincount(found.codes).tolist() == [25, 25, 25, 25]


def test_infinite_numbers_are_in_the_outer_ranges(store):
    values = [float("-inf"), *(at + 0.5 for at in range(98)), float("inf")]
    found = slice_column(store(x=values), "x", np.arange(100))
    assert (found.codes[0], found.codes[-1]) == (0, 3)


def test_too_many_values_are_no_slices(store):
    with pytest.raises(BadData, match=f"slice column id has {MOST_VALUES + 1:,} different values such as n0, n1"):
        slice_column(store(id=[f"n{at}" for at in range(MOST_VALUES + 1)]), "id", np.array([0]))
    with pytest.raises(BadData, match="one value per row"):
        slice_column(store(x=[[1.0], [2.0]]), "x", np.array([0]))
