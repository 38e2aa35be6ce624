import io
import zipfile

import numpy as np
import pyarrow.parquet as pq
import pytest

from engine.errors import BadData


def raw_npz(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/") + ".npy", data)
    return path


def header(shape, dtype="<f8"):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": dtype, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def test_arrays_and_columns_are_told_apart(read_file, save_npz):
    x = np.arange(24, dtype=np.float32).reshape(4, 3, 2)
    days = np.array(["2024-01-01", "NaT", "2024-01-03", "2024-01-04"], "M8[D]")
    path = save_npz(x=x, label=np.array(["NA", "", "b", "NA"]), w=np.ones(4, ">f4"), flag=np.ones(4, bool), day=days)
    folder, profile = read_file(path)
    assert [(one.name, one.kind, one.dtype, one.shape, one.n_missing) for one in profile.columns] == [
        ("x", "array", "float32", (3, 2), 0),
        ("label", "text", "string", (), 1),
        ("w", "number", "float32", (), 0),
        ("flag", "true/false", "bool", (), 0),
        ("day", "time", "string", (), 1),
    ]
    stored = pq.read_table(folder / "table.parquet").to_pydict()
    assert stored["c1"] == ["NA", None, "b", "NA"]
    assert stored["c4"] == ["2024-01-01", None, "2024-01-03", "2024-01-04"]
    assert np.array_equal(np.load(folder / "arrays" / "0.npy"), x)


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(np.arange(12.0).reshape(4, 3)),
        np.arange(12, dtype=">i4").reshape(4, 3),
        np.arange(12, dtype=np.float16).reshape(4, 3),
        np.array([["a", "bcd"], ["", "ä"]]),
        np.array([[b"a", b"bcd"], [b"", b"e"]]),
        np.arange(12, dtype=np.uint8).reshape(4, 3, 1, 1),
    ],
    ids=lambda array: str(array.dtype) + ("F" if array.flags.f_contiguous else ""),
)
def test_every_layout_is_read_by_value(read_file, save_npz, array):
    folder, _ = read_file(save_npz(x=array, label=np.arange(len(array))))
    stored = np.load(folder / "arrays" / "0.npy")
    assert stored.flags.c_contiguous
    assert stored.tolist() == (np.char.decode(array).tolist() if array.dtype.kind == "S" else array.tolist())


def test_many_rows_come_in_pieces(read_file, save_npz):
    x, label = np.random.default_rng(0).normal(size=(200_000, 3)), np.arange(200_000)
    folder, profile = read_file(save_npz(x=x, label=label))
    assert np.array_equal(np.load(folder / "arrays" / "0.npy"), x)
    assert pq.read_table(folder / "table.parquet")["c1"].to_pylist() == label.tolist()
    assert profile.n_rows == 200_000


def test_p16_objects_are_refused_with_the_fix(public_cases, read_file):
    with pytest.raises(BadData, match=r"save label as fixed-width text or numbers: label\.astype\(str\)"):
        read_file(public_cases / "P16" / "eval.npz")


def test_a_name_with_a_slash_is_only_a_name(tmp_path, read_file):
    path = tmp_path / "a.npz"
    buffer = io.BytesIO()
    np.save(buffer, np.zeros((2, 3), np.float32))
    folder, profile = read_file(raw_npz(path, in__ids=buffer.getvalue()))
    assert profile.names == ["in/ids"]
    assert [file.name for file in folder.rglob("*.npy")] == ["0.npy"]


def test_single_values_are_noted(read_file, save_npz):
    _, profile = read_file(save_npz(x=np.zeros((3, 2)), version=np.array(4)))
    assert profile.names == ["x"]
    assert profile.notes == ("Single values ignored: version",)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"x": np.zeros((4, 2)), "label": np.zeros(3)}, r"x 4, label 3"),
        ({"x": np.zeros((0, 2)), "label": np.zeros(0)}, "have no rows"),
        ({"x": np.zeros((4, 0))}, "shape"),
        ({"x": np.zeros(4, complex)}, "complex128"),
        ({"x": np.zeros(4, [("a", "f4")])}, "numbers, true/false and text"),
        ({"x": np.zeros(2, "U400000")}, "cells of 1.53 MiB"),
        ({"x": np.array(3)}, "no array with rows"),
        ({"x": np.array([b"\xff\xfe"])}, "no UTF-8 text"),
    ],
)
def test_what_makes_no_table_is_refused(read_file, save_npz, arrays, said):
    with pytest.raises(BadData, match=said):
        read_file(save_npz(**arrays))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (header((10**6, 10**6)) + bytes(64), "claims the shape .* 7.28 TiB, but 192 bytes are there"),
        (header((2,)) + bytes(15), "cut off or damaged"),
        (header((2,)) + bytes(17), "cut off or damaged"),
        (header((-2,)) + bytes(16), "shape"),
        (b"no array", "no readable header"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + b"(" * 70_000, "no readable header"),
        (b"\x93NUMPY\x09\x00" + bytes(80), "no readable header"),
        (b"\x93NUMPY\x01\x00\x50\x00" + b"(" * 79 + b"\n", "no readable header"),
    ],
    ids=range(8),
)
def test_a_header_that_lies_is_refused(tmp_path, read_file, data, said):
    with pytest.raises(BadData, match=said):
        read_file(raw_npz(tmp_path / "a.npz", x=data))


def test_a_bomb_is_not_unpacked(tmp_path, read_file):
    data = header((40 << 20,)) + bytes(320 << 20)
    with pytest.raises(BadData, match="at most 500 times the packed size"):
        read_file(raw_npz(tmp_path / "a.npz", x=data))


def test_a_flipped_bit_is_noticed(tmp_path, read_file, save_npz):
    path = save_npz(x=np.random.default_rng(0).normal(size=(100, 4)))
    raw = bytearray(path.read_bytes())
    raw[1000] ^= 1
    path.write_bytes(raw)
    with pytest.raises(BadData, match="damaged"):
        read_file(path)


def test_an_archive_with_other_things_is_refused(tmp_path, read_file, save_npz):
    path = save_npz(x=np.zeros((2, 2)))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("notes.txt", "x")
    with pytest.raises(BadData, match=r"more than arrays: notes\.txt"):
        read_file(path)


@pytest.mark.parametrize("cut", [1, 7, 40])
def test_bytes_lost_from_the_middle_are_noticed(read_file, save_npz, cut):
    path = save_npz(x=np.arange(400.0).reshape(100, 4), label=np.arange(100))
    raw = path.read_bytes()
    path.write_bytes(raw[:500] + raw[500 + cut :])
    with pytest.raises(BadData, match="damaged"):
        read_file(path)
