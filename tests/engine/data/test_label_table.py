import numpy as np
import pyarrow as pa
import pytest

from engine.data.label_table import MOST_LABELS, label_table
from engine.data.table import open_table
from engine.errors import BadData

SQUARE = [[0, 1, 1], [1, 0, 0]]
GONE = [-1, -1, -1]


def read(table, *columns, separator=None):
    found = label_table(table, columns, separator)
    assert found.values.dtype == np.int8
    return found.names, found.values.tolist()


@pytest.mark.parametrize(
    ("zero", "one", "missing"), [(0, 1, None), (0.0, 1.0, float("nan")), (False, True, None), ("0", "true", "NA")]
)
def test_columns_side_by_side(store, zero, one, missing):
    table = store(a=[zero, one, missing], b=[one, zero, missing], c=[one, zero, missing])
    assert read(table, "a", "b", "c") == (("a", "b", "c"), [*SQUARE, GONE])
    assert read(table, "c", "a") == (("c", "a"), [[1, 0], [0, 1], [-1, -1]])


@pytest.mark.parametrize("cells", ["0,1\n1,0", "false,true\nTRUE,FALSE", "0.0,1\n1,0", " 0 ,1\n1, 0 "])
def test_cells_of_a_csv(read_text, cells):
    folder, _ = read_text(f"a,b\n{cells}\n,\n")
    assert read(open_table(folder), "a", "b")[1] == [[0, 1], [1, 0], [-1, -1]]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32])
def test_an_array(save_npz, read_file, dtype):
    folder, _ = read_file(save_npz(x=np.zeros((2, 2)), y=np.array(SQUARE, dtype)))
    assert read(open_table(folder), "y") == ((), SQUARE)


def test_an_array_may_lack_rows(save_npz, read_file):
    folder, _ = read_file(save_npz(y=np.array([[0, 1.0], [np.nan, np.nan]])))
    assert read(open_table(folder), "y")[1] == [[0, 1], [-1, -1]]


def test_a_list_column(store):
    assert read(store(y=SQUARE), "y") == ((), SQUARE)
    assert read(store(y=pa.array(np.array(SQUARE, bool).tolist(), pa.list_(pa.bool_(), 3))), "y") == ((), SQUARE)


def test_text_with_names(store):
    tags = store(tags=["b|c", "a", None, "|", " c | b|", ""])
    names, values = read(tags, "tags", separator="|")
    assert names == ("a", "b", "c")
    assert values == [[0, 1, 1], [1, 0, 0], GONE, [0, 0, 0], [0, 1, 1], GONE]


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"a": [0, 1], "b": [0, 2]}, "row 2, column b: 2 is neither 0 nor 1"),
        ({"a": [0, 1], "b": [0.5, 1]}, r"row 1, column b: 0\.5 is neither"),
        ({"a": [0, -1], "b": [0, 1]}, "row 2, column a: -1 is neither"),
        ({"a": [0, 1], "b": [float("inf"), 1]}, "row 1, column b: inf is neither"),
        ({"a": ["yes", "no"], "b": [0, 1]}, r"row 1, column a: 'yes' is neither 0 nor 1 \(false nor true\)"),
        (
            {"a": [0, None, None], "b": [1, 1, None], "c": [1, 0, None]},
            r"row 2, column a: the label is missing, other labels of the row are known \(1 such rows\)",
        ),
        ({"a": [None, None], "b": pa.array([None, None], pa.int64())}, "no row of 2 has a label in a, b"),
        ({"a": SQUARE, "b": [0, 1]}, r"column a holds an array of shape \(3,\) per row"),
    ],
)
def test_columns_that_are_no_labels(store, columns, match):
    with pytest.raises(BadData, match=match):
        label_table(store(**columns), tuple(columns), None)


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ([[0, 1], [2, 0]], r"row 2, column y\[0\]: 2 is neither"),
        ([[0, 1], [np.nan, 0]], r"row 2, column y\[0\]: the label is missing"),
        (np.zeros((2, 2, 2)), "column y holds 2×2 values of float64 per row; labels are one 0 or 1 per class"),
        (np.array([["a", "b"]] * 2), "values of <U1 per row"),
    ],
)
def test_arrays_that_are_no_labels(save_npz, read_file, values, match):
    folder, _ = read_file(save_npz(y=np.array(values)))
    with pytest.raises(BadData, match=match):
        label_table(open_table(folder), ("y",), None)


def test_one_column_of_single_values_needs_a_separator(store):
    with pytest.raises(BadData, match=r"column y holds one value per row; .*--label a,b.*--label-separator"):
        label_table(store(y=["a", "b"]), ("y",), None)
    with pytest.raises(BadData, match=r"column y holds whole number, not names with '\|' between them"):
        label_table(store(y=[1, 2]), ("y",), "|")
    with pytest.raises(BadData, match="column y names no label in any of 2 rows"):
        label_table(store(y=["|", "|"]), ("y",), "|")
    with pytest.raises(BadData, match=f"holds {MOST_LABELS + 1:,} different labels"):
        label_table(store(y=[f"l{at}" for at in range(MOST_LABELS + 1)]), ("y",), "|")
