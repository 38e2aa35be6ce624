import numpy as np
import pyarrow as pa
import pytest

from engine.data.casting import cast_column, category_codes
from engine.data.profile import ColumnProfile
from engine.data.tally import Tally
from engine.errors import BadData, Mismatch


def cast(values, dtype, kind="number", first_row=0, tally=None):
    array = values if isinstance(values, (pa.Array, np.ndarray)) else pa.array(values)
    stored = "string" if not isinstance(array, np.ndarray) and pa.types.is_string(array.type) else "x"
    column = ColumnProfile(name="ids", position=0, kind=kind, dtype=stored)
    return cast_column(array, column, dtype, first_row, tally or Tally())


@pytest.mark.parametrize(
    ("values", "dtype", "wanted"),
    [
        ([1, 2], "float32", [1.0, 2.0]),
        ([1.0, 3.0], "int64", [1, 3]),
        ([0.1, None], "float64", [0.1, np.nan]),
        ([0.1], "float32", [np.float32(0.1)]),
        ([2**24 + 1], "float32", [2.0**24]),
        ([True, False], "float32", [1.0, 0.0]),
        ([True, False], "int64", [1, 0]),
        ([1, 0], "bool", [True, False]),
        ([255], "uint8", [255]),
        ([-(2**63)], "int64", [-(2**63)]),
        ([float("inf")], "float32", [np.inf]),
        (pa.array([1.5], pa.float32()), "float64", [1.5]),
        (["1", " 2.5 "], "float32", [1.0, 2.5]),
        (["007", "8"], "int64", [7, 8]),
        (["9007199254740993"], "int64", [9007199254740993]),
        (["1", "NA", "", None], "float64", [1.0, np.nan, np.nan, np.nan]),
    ],
)
def test_safe_casts_keep_the_value(values, dtype, wanted):
    found = cast(values, dtype)
    assert found.dtype == dtype
    assert np.array_equal(found, np.array(wanted, dtype), equal_nan=found.dtype.kind == "f")


@pytest.mark.parametrize("values", [["True", "FALSE", None], [True, False, None]])
def test_true_and_false_are_one_and_zero(values):
    assert np.array_equal(cast(values, "float32", "true/false"), [1.0, 0.0, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    ("values", "dtype", "said"),
    [
        ([0, 3, 9, 4.5], "int64", "row 4, column ids: 4.5 is not a whole number; the input needs int64"),
        ([1.0, None], "int64", "row 2, column ids: the cell has no value; the input needs int64"),
        ([1.0, float("nan")], "int32", "row 2, column ids: the cell has no value"),
        ([1, 300], "uint8", "row 2, column ids: 300 is outside 0 … 255"),
        ([-1], "uint8", "row 1, column ids: -1 is outside 0 … 255"),
        ([2.0**63], "int64", "is outside"),
        ([float("inf")], "int64", "is outside|not a whole number"),
        ([1e39], "float32", r"1e\+39 is too large for float32"),
        ([70000.0], "float16", r"70000.0 is too large for float16"),
        ([2], "bool", "2 is outside 0 … 1"),
        ([0.5, 0.5, 1.0], "int8", r"row 1, column ids: 0.5 .* \(2 such cells among the rows read\)"),
    ],
)
def test_unsafe_casts_are_refused_with_row_and_column(values, dtype, said):
    with pytest.raises(BadData, match=said):
        cast(values, dtype)


def test_rows_count_on_from_the_first_of_the_batch():
    with pytest.raises(BadData, match="row 1,003, column ids"):
        cast([1, 2, 0.5], "int64", first_row=1000)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_text_for_a_number_is_refused_and_nothing_is_encoded(dtype):
    with pytest.raises(Mismatch, match=r"row 2, column ids: 'Oslo' is text; the input needs .* one-hot encoding"):
        cast(["1", "Oslo", "Bern"], dtype, "text")


def test_text_inputs_take_numbers_as_written():
    assert cast([1, 2, None], "string").tolist() == ["1", "2", ""]
    assert cast([0.5, 1.0], "string").tolist() == ["0.5", "1.0"]
    assert cast(["NA", None, "ä"], "string", "text").tolist() == ["NA", "", "ä"]
    assert cast([True], "string").tolist() == ["True"]


def test_arrays_are_cast_like_columns():
    assert cast(np.array([[1.0, 2.0]]), "int64", "array").tolist() == [[1, 2]]
    assert cast(np.array([["a", "b"]]), "string", "array").tolist() == [["a", "b"]]
    with pytest.raises(BadData, match=r"row 2, column ids at position 1: 0\.5 is not a whole number"):
        cast(np.array([[1.0, 2.0], [1.0, 0.5]]), "int64", "array")
    with pytest.raises(Mismatch, match="holds text, the input needs float32"):
        cast(np.array([["a", "b"]]), "float32", "array")


def test_what_was_done_is_told_once_per_column():
    tally = Tally()
    for first_row in (0, 2):
        cast([1, 2], "float32", first_row=first_row, tally=tally)
        cast([0.5, None], "float64", tally=tally)
        cast(["1", "NA"], "float64", tally=tally)
    assert list(tally.notes()) == [
        "Cast int64 to float32: ids",
        "Cast text to float64: ids",
        "Cast int64 to float64: ids",
        "Column ids: 2 cells 'NA' taken as missing",
        "Missing values given as NaN: ids 4",
    ]


def codes(values, categories, tally=None):
    column = ColumnProfile(name="colour", position=0, kind="text", dtype="string")
    return category_codes(pa.array(values), column, categories, tally or Tally())


def test_p11_codes_are_places_in_the_stored_list():
    assert codes(["red", "blue", "green", "red"], ("blue", "green", "red")).tolist() == [2.0, 0.0, 1.0, 2.0]


def test_p11_unknown_categories_are_missing_and_counted():
    tally = Tally()
    found = codes(["violet", "red", None, "pink", "violet"], ("blue", "red"), tally)
    assert np.array_equal(found, [np.nan, 1, np.nan, np.nan, np.nan], equal_nan=True)
    assert list(tally.notes()) == [
        "Column colour: 3 of 4 values are not among the model's categories (for example 'violet') "
        "and are taken as missing"
    ]


@pytest.mark.parametrize(
    ("values", "categories", "wanted"),
    [
        ([2, 1], ("1", "2"), [1, 0]),
        ([2.0, 1.0, float("nan")], ("1", "2"), [1, 0, np.nan]),
        (["2", "1"], ("1.0", "2.0"), [1, 0]),
        ([True, False], ("False", "True"), [1, 0]),
        (["true", "FALSE"], ("False", "True"), [1, 0]),
        (["1_0", "nan"], ("10", "nan"), [np.nan, 1]),
        (["1", "1.0"], ("1.0", "1"), [1, 0]),
    ],
)
def test_a_category_is_the_same_however_it_is_written(values, categories, wanted):
    tally = Tally()
    assert np.array_equal(codes(values, categories, tally), np.array(wanted, float), equal_nan=True)
    assert bool(list(tally.notes())) == ("1_0" in values)


def test_categories_agree_with_lightgbm_itself(public_cases):
    """The oracle is LightGBM's own treatment of a data frame with the training categories."""
    import lightgbm
    import pandas as pd

    booster = lightgbm.Booster(model_file=str(public_cases / "P11" / "model.txt"))
    listed = tuple(map(str, booster.pandas_categorical[0]))
    for name in ("eval.csv", "eval_unknown.csv"):
        frame = pd.read_csv(public_cases / "P11" / name)[booster.feature_name()]
        ours = frame.assign(colour=codes(frame["colour"].tolist(), listed)).to_numpy(float)
        frame["colour"] = pd.Categorical(frame["colour"], categories=["red", "green", "blue"])
        assert np.array_equal(booster.predict(ours), booster.predict(frame))
