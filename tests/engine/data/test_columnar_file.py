import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from engine.data.limits import MAX_NESTING
from engine.errors import BadData


def save(table, path, how):
    if how == "parquet":
        pq.write_table(table, path)
    elif how == "feather":
        pyarrow.feather.write_feather(table, path, compression="zstd")
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)


@pytest.fixture
def read_table(tmp_path, read_file):
    def call(table, how="parquet"):
        path = tmp_path / "file"
        save(table, path, how)
        return read_file(path)

    return call


@pytest.mark.parametrize("how", ["parquet", "feather", "stream"])
def test_the_types_of_arrow_become_few(read_table, how):
    table = pa.table(
        {
            "i8": pa.array([1, None, 3], pa.int8()),
            "u64": pa.array([1, 2, 2**63], pa.uint64()),
            "f16": pa.array(np.array([1, 2, 3], np.float16)),
            "f32": pa.array([1.5, float("nan"), None], pa.float32()),
            "dec": pa.array([decimal.Decimal("1.5"), None, decimal.Decimal(2)]),
            "flag": pa.array([True, None, False]),
            "text": pa.array(["NA", None, "b"]),
            "cat": pa.array(["x", "y", "x"]).dictionary_encode(),
            "big": pa.array(["x", "", "z"], pa.large_string()),
            "day": pa.array([datetime.date(2024, 1, 2), None, datetime.date(2024, 1, 3)]),
            "none": pa.nulls(3),
            "label": [0, 1, 0],
        }
    )
    folder, profile = read_table(table, how)
    assert {one.name: (one.kind, one.dtype, one.n_missing) for one in profile.columns} == {
        "i8": ("whole number", "int8", 1),
        "u64": ("whole number", "uint64", 0),
        "f16": ("number", "float32", 0),
        "f32": ("number", "float32", 2),
        "dec": ("number", "float64", 1),
        "flag": ("true/false", "bool", 1),
        "text": ("text", "string", 1),
        "cat": ("text", "string", 0),
        "big": ("text", "string", 0),
        "day": ("time", "string", 1),
        "none": ("number", "float64", 3),
        "label": ("whole number", "int64", 0),
    }
    stored = pq.read_table(folder / "table.parquet").to_pydict()
    assert stored["c1"] == [1, 2, 2**63]
    assert stored["c6"] == ["NA", None, "b"]
    assert stored["c9"] == ["2024-01-02", None, "2024-01-03"]
    assert profile.format == ("parquet" if how == "parquet" else "arrow")


@pytest.mark.parametrize("how", ["parquet", "feather"])
def test_list_columns_become_arrays(read_table, how):
    x = np.arange(24, dtype=np.float32).reshape(4, 3, 2)
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(12)), 3)
    folder, profile = read_table(pa.table({"label": [0, 1, 0, 1], "x": pa.array(x.tolist()), "ids": fixed}), how)
    assert [(one.name, one.kind, one.shape) for one in profile.columns] == [
        ("label", "whole number", ()),
        ("x", "array", (3, 2)),
        ("ids", "array", (3,)),
    ]
    assert np.array_equal(np.load(folder / "arrays" / "1.npy"), x)
    assert np.array_equal(np.load(folder / "arrays" / "2.npy"), np.arange(12).reshape(4, 3))
    assert profile.head[0] == ("0", "[0, 1, 2, 3, …]", "[0, 1, 2]")


@pytest.mark.parametrize(
    ("lists", "row"),
    [
        ([[1.0, 2.0], [3.0]], "row 2"),
        ([[1.0, 2.0], None, [3.0, 4.0]], "row 2"),
        ([[1, 2], [3, 4], [5, None]], "row 3"),
        ([[[1.0], [2.0]], [[1.0], [2.0]], [[1.0], []]], "row 3"),
    ],
)
def test_an_uneven_list_column_is_left_out_with_its_row(read_table, lists, row):
    folder, profile = read_table(pa.table({"label": [0] * len(lists), "x": pa.array(lists)}))
    assert profile.names == ["label"]
    assert row in profile.notes[0]
    assert not list(folder.glob("arrays/*"))


def test_a_missing_number_inside_a_list_of_floats_is_nan(read_table):
    folder, _ = read_table(pa.table({"label": [0, 1], "x": pa.array([[1.0, None], [3.0, 4.0]])}))
    assert np.isnan(np.load(folder / "arrays" / "1.npy")).tolist() == [[False, True], [False, False]]


def test_what_is_no_column_is_left_out_and_said(read_table):
    table = pa.table({"label": [0], "r": [{"a": 1}], "words": [["a", "b"]], "raw": [b"\xff\x00"]}).drop(["raw"])
    _, profile = read_table(table)
    assert profile.names == ["label"]
    assert [note.split(":")[0] for note in profile.notes] == ["Column r ignored", "Column words ignored"]


def test_bytes_that_are_no_text_are_refused(read_table):
    with pytest.raises(BadData, match="column raw holds bytes"):
        read_table(pa.table({"label": [0], "raw": [b"\xff\x00"]}))


def test_bytes_that_are_text_are_text(read_table):
    assert read_table(pa.table({"label": [0], "raw": [b"yes"]}))[1].head == (("0", "yes"),)


def test_the_index_of_pandas_is_a_row_number(tmp_path, read_file):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "label": [0, 1, 0]}).iloc[[2, 0, 1]]
    frame.to_parquet(tmp_path / "file.parquet")
    _, profile = read_file(tmp_path / "file.parquet")
    assert profile.column("__index_level_0__").row_number


def nested(depth):
    value, kind = 1, pa.int8()
    for _ in range(depth):
        value, kind = [value], pa.list_(kind)
    return pa.table({"a": pa.array([value], kind), "label": [1]})


@pytest.mark.parametrize("how", ["parquet", "feather"])
def test_nesting_has_a_limit(read_table, how):
    assert read_table(nested(MAX_NESTING), how)[1].column("a").shape == (1,) * MAX_NESTING
    with pytest.raises(BadData, match=f"nested {MAX_NESTING + 1} deep; at most {MAX_NESTING}"):
        read_table(nested(MAX_NESTING + 1), how)


@pytest.mark.parametrize("how", ["parquet", "feather", "stream"])
def test_a_dictionary_bomb_is_stopped_before_it_unfolds(read_table, how):
    bomb = pa.DictionaryArray.from_arrays(pa.array(np.zeros(40_000, np.int32)), pa.array(["z" * 1_000_000]))
    with pytest.raises(BadData, match=r"37\.3 GiB of text once read"):
        read_table(pa.table({"a": bomb, "label": pa.array(np.zeros(40_000))}), how)


def test_a_huge_cell_is_named(read_table):
    with pytest.raises(BadData, match=r"row 2, column a: a text of 1\.91 MiB; at most 1 MiB"):
        read_table(pa.table({"a": ["ok", "z" * 2_000_000]}))


@pytest.mark.parametrize("how", ["parquet", "feather"])
def test_no_rows_and_double_names_are_refused(read_table, how):
    with pytest.raises(BadData, match=r"2 columns \(a, label\) and no rows"):
        read_table(pa.table({"a": pa.array([], pa.int64()), "label": pa.array([], pa.int64())}), how)
    with pytest.raises(BadData, match="more than once: a"):
        read_table(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), how)


@pytest.mark.parametrize("how", ["parquet", "feather", "stream"])
def test_damage_in_the_middle_is_one_sentence(tmp_path, read_file, how):
    path = tmp_path / "file"
    save(pa.table({"a": np.arange(5000.0), "label": np.arange(5000)}), path, how)
    raw = bytearray(path.read_bytes())
    raw[200:400] = b"\xff" * 200
    raw[-300:-20] = b"\x7f" * 280
    path.write_bytes(raw)
    with pytest.raises(BadData):
        read_file(path)


def test_wide_rows_are_read_a_few_at_a_time(tmp_path, read_file, talk, monkeypatch):
    monkeypatch.setattr("engine.data.columnar_file.BATCH_BYTES", 80_000)
    values = np.arange(100 * 1000, dtype=np.float64).reshape(100, 1000)
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), 1000)
    path = tmp_path / "file.parquet"
    pq.write_table(pa.table({"x": fixed, "label": np.zeros(100)}), path)
    from engine.data.read import read

    read({"path": str(path), "out": str(tmp_path)}, talk)
    assert len(talk.messages) >= 10
    assert np.array_equal(np.load(tmp_path / "arrays" / "0.npy"), values)
