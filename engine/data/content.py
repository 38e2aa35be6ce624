"""Tell a data file by its first bytes, never by its name; say what a wrong file is and what to do with it."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from engine.data.profile import DataFormat
from engine.errors import BadData

HEAD_BYTES = 4096
TAKEN = "give a CSV, Parquet, Feather (Arrow) or NPZ file"
BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # bytes that no text table holds

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a PNG image; put images as one array into an NPZ file"),
    (b"\xff\xd8\xff", "a JPEG image; put images as one array into an NPZ file"),
    (b"GIF8", "a GIF image; put images as one array into an NPZ file"),
    (b"BM", "a bitmap image; put images as one array into an NPZ file"),
    (b"II*\0", "a TIFF image; put images as one array into an NPZ file"),
    (b"MM\0*", "a TIFF image; put images as one array into an NPZ file"),
    (b"RIFF", "an image, sound or film; put it as one array into an NPZ file"),
    (b"%PDF", "a PDF document; save the table as CSV"),
    (b"\x93NUMPY", "a single NPY array; save inputs and label together: np.savez('eval.npz', x=x, label=y)"),
    (b"\x89HDF", "an HDF5 file; save the table with DataFrame.to_parquet"),
    (b"SQLite format 3", "an SQLite database; export the table as CSV or Parquet"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Office file; save the sheet as CSV (UTF-8)"),
    (b"\x1f\x8b", "compressed with gzip; unpack it first"),
    (b"BZh", "compressed with bzip2; unpack it first"),
    (b"\xfd7zXZ", "compressed with xz; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it first"),
    (b"7z\xbc\xaf", "a 7z archive; unpack it first"),
    (b"Obj\x01", "an Avro file; save the table as Parquet"),
    (b"ORC", "an ORC file; save the table as Parquet"),
    (b"FEA1", "a Feather file of version 1; save it again with a current DataFrame.to_feather"),
    (b"\x7fELF", "a program, not a table"),
    (b"MZ", "a program, not a table"),
    (b"tree\n", "a LightGBM model, not an evaluation set"),
    (b"tree\r\n", "a LightGBM model, not an evaluation set"),
)


def recognise(path: Path) -> DataFormat:
    """The format of a data file. Raises BadData with what it is instead and how to bring it."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        size_bytes = file.seek(0, 2)
        file.seek(max(0, size_bytes - 4))
        tail = file.read()
    if not head.strip(b" \t\r\n\xef\xbb\xbf"):
        raise BadData(f"the file is empty ({size_bytes:,} bytes); {TAKEN}")
    if head.startswith(b"PAR1"):
        if tail != b"PAR1" or size_bytes < 12:
            raise BadData("this Parquet file is cut off: its closing mark is missing. Copy it again")
        return "parquet"
    if head.startswith(b"ARROW1") or head.startswith(b"\xff\xff\xff\xff"):
        return "arrow"
    if head.startswith((b"PK\3\4", b"PK\5\6")):
        return _zip_kind(path)
    _refuse_other(head)
    return "csv"


def _refuse_other(head: bytes) -> None:
    if re.match(rb"\x80[\x02-\x05]", head):
        raise BadData(
            "this is a pickled Python object, which is never opened because loading one can run code; "
            "save the table with DataFrame.to_parquet or DataFrame.to_csv"
        )
    text_like = not _CONTROL.search(head) or head.startswith(BYTE_ORDER_MARKS)
    for mark, what in _SIGNATURES:
        if head.startswith(mark) and not (text_like and mark in (b"BM", b"MZ", b"RIFF", b"ORC", b"BZh", b"GIF8")):
            raise BadData(f"this is {what}")
    if re.match(rb"\s*[\[{]\s*[\[{\"\]}]", head):
        raise BadData(
            "this is JSON; save the table as CSV or Parquet, for example pandas.read_json(...).to_parquet(...)"
        )
    if re.match(rb"\s*<(!doctype|html|\?xml)", head, re.IGNORECASE):
        raise BadData("this is a web page or XML, not a table; save the table as CSV")
    if not text_like:
        model = "; it may be an ONNX model, which belongs under model" if head[0] == 8 else ""
        raise BadData(f"this is a binary file of an unknown kind{model}; {TAKEN}")


def _zip_kind(path: Path) -> DataFormat:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, ValueError, OSError) as error:
        raise BadData(f"this archive is damaged or cut off ({error}); write it again with np.savez") from error
    outside = next(
        (name for name in names if ".." in re.split(r"[/\\]", name) or re.match(r"[/\\]|[a-zA-Z]:", name)), None
    )
    if outside is not None:
        raise BadData(f"the archive names a place outside itself: {outside[:80]!r}; write it again with np.savez")
    if any(name.endswith(".npy") for name in names):
        return "npz"
    lowered = [name.lower() for name in names]
    if any(name.startswith(("xl/", "[content_types]")) for name in lowered):
        raise BadData("this is an Excel workbook; save the sheet as CSV (UTF-8)")
    if any(name.endswith((".onnx", "data.pkl", "models/model.json", "/version", ".data/version")) for name in lowered):
        raise BadData(f"this is a model, not an evaluation set; {TAKEN}")
    if any(name.endswith((".csv", ".parquet", ".feather", ".tsv")) for name in lowered):
        raise BadData("this is a zip archive with a table inside; unpack it and give the table itself")
    raise BadData(f"this zip archive holds no NumPy arrays ({len(names):,} members); {TAKEN}")
