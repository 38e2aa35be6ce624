import gzip
import pickle
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from engine.data.content import recognise
from engine.errors import BadData


def test_content_decides_whatever_the_name(tmp_path):
    table = pa.table({"a": [1, 2], "label": [0, 1]})
    pq.write_table(table, tmp_path / "table.csv")
    pyarrow.feather.write_feather(table, tmp_path / "table.parquet")
    with (tmp_path / "table.png").open("wb") as file:
        np.savez(file, x=np.zeros(3))
    (tmp_path / "table.npz").write_text("a,label\n1,0\n")
    names = ("table.csv", "table.parquet", "table.png", "table.npz")
    assert [recognise(tmp_path / name) for name in names] == ["parquet", "arrow", "npz", "csv"]


def zipped(*names):
    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, "x")

    return write


def bytes_of(data):
    return lambda path: path.write_bytes(data)


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (bytes_of(b""), "empty"),
        (bytes_of(b"\xef\xbb\xbf \n\n"), "empty"),
        (bytes_of(pickle.dumps({"a": 1})), "pickled"),
        (bytes_of(b"\x89PNG\r\n\x1a\n" + bytes(20)), "PNG"),
        (bytes_of(b"\xff\xd8\xff\xe0" + bytes(20)), "JPEG"),
        (bytes_of(b"%PDF-1.7\n"), "PDF"),
        (bytes_of(gzip.compress(b"a,label\n1,0\n")), "gzip"),
        (bytes_of(b'{"a": 1}'), "JSON"),
        (bytes_of(b'[\n {"a": 1}]'), "JSON"),
        (bytes_of(b"<!DOCTYPE html><html></html>"), "web page"),
        (bytes_of(b"tree\nversion=v4\n"), "LightGBM"),
        (bytes_of(b"\x08\x09\x3a\x10" + bytes(30)), "ONNX"),
        (bytes_of(b"\x08\x09:abc" + b"\x01\x02\x12" * 9), "binary"),
        (bytes_of(b"PAR1" + bytes(30)), "cut off"),
        (bytes_of(b"FEA1" + bytes(30)), "Feather file of version 1"),
        (bytes_of(b"PK\x03\x04 and no archive"), "damaged"),
        (lambda path: np.save(path.open("wb"), np.zeros(3)), "single NPY"),
        (zipped("xl/workbook.xml", "[Content_Types].xml"), "Excel"),
        (zipped("model.onnx"), "model"),
        (zipped("archive/data.pkl"), "model"),
        (zipped("data.csv"), "unpack"),
        (zipped("readme.txt"), "no NumPy arrays"),
        (zipped("x.npy", "../../evil"), "outside itself"),
        (zipped("x.npy", "/etc/evil.npy"), "outside itself"),
        (zipped("x.npy", "C:\\evil.npy"), "outside itself"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, write, said):
    path = tmp_path / "file.csv"
    write(path)
    with pytest.raises(BadData, match=said):
        recognise(path)


@pytest.mark.parametrize("text", ["BMI,label\n20,1\n", "MZ,label\n1,0\n", "ORC,label\n1,0\n", "[a],label\n1,0\n"])
def test_a_header_that_looks_like_a_signature_is_still_a_table(tmp_path, text):
    path = tmp_path / "file.csv"
    path.write_text(text)
    assert recognise(path) == "csv"
