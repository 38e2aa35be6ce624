"""Find out how the bytes of a text file become letters: UTF-8 first, and only then a guess."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.data.limits import MAX_LINE_BYTES, size_text
from engine.errors import BadData

CHUNK_BYTES = 1 << 20
SAMPLE_BYTES = 64 << 10
# What a table made by an office program or a script of some country is likely to be in. DOS code pages are left out:
# they win on short samples and are rare in files of today.
LIKELY = (
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "iso8859_2", "koi8_r",
    "cp932", "euc_jp", "gb18030", "big5", "cp949", "mac_roman",
)  # fmt: skip
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass
class _Scan:
    """One pass over the bytes: is it UTF-8, how long is the longest line, some lines that are not plain ASCII."""

    utf8: bool = True
    null_bytes: bool = False
    longest_line: int = 0
    sample: bytes = b""


def detect_encoding(path: Path) -> str:
    """The Python name of the encoding. Raises BadData for binary files and lines beyond the limit."""
    with path.open("rb") as file:
        head = file.read(4)
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if marked in ("utf-16", "utf-32"):
        return marked
    scan = _scan(path)
    if scan.longest_line > MAX_LINE_BYTES:
        raise BadData(
            f"one line of {size_text(scan.longest_line)}; at most {size_text(MAX_LINE_BYTES)} are allowed. "
            "Long arrays belong into NPZ or Parquet list columns"
        )
    if scan.utf8:
        return marked or "utf-8"
    if scan.null_bytes:
        raise BadData(
            "the file holds zero bytes and is no UTF-8 text; name its encoding (for example utf-16) if it is text"
        )
    return _guess(scan.sample)


def check_encoding(name: str, path: Path) -> str:
    """The name of an encoding that a person chose for a file. Raises BadData when it is no text encoding."""
    examples = "for example utf-8, latin-1, cp1252, utf-16, shift_jis"
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError) as error:
        raise BadData(f"no encoding is called {name!r}; {examples}") from error
    if not info._is_text_encoding:
        raise BadData(f"{name!r} is not an encoding of text; {examples}")
    if info.name not in ("utf-8", "utf-8-sig"):
        return name.lower()
    with path.open("rb") as file:
        return "utf-8-sig" if file.read(3) == codecs.BOM_UTF8 else "utf-8"


def _scan(path: Path) -> _Scan:
    scan, decoder, open_line = _Scan(), codecs.getincrementaldecoder("utf-8")(), 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            open_line = _measure_lines(scan, chunk, open_line)
            scan.null_bytes = scan.null_bytes or b"\0" in chunk
            if scan.utf8:
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError:
                    scan.utf8 = False
                    file.seek(0)  # once more from the start, now for a sample
                    scan.longest_line, open_line = 0, 0
                    continue
            elif len(scan.sample) < SAMPLE_BYTES and not chunk.isascii():
                lines = [line for line in chunk.splitlines(keepends=True) if not line.isascii()]
                scan.sample += b"".join(lines)[:SAMPLE_BYTES]
    if scan.utf8:
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            scan.utf8, scan.sample = False, _tail(path)
    return scan


def _measure_lines(scan: _Scan, chunk: bytes, open_line: int) -> int:
    """Update the longest line; returns the length of the line still open at the end of the chunk."""
    values = np.frombuffer(chunk, np.uint8)
    ends = np.flatnonzero((values == 10) | (values == 13))
    if not len(ends):
        scan.longest_line = max(scan.longest_line, open_line + len(chunk))
        return open_line + len(chunk)
    longest = int(np.diff(ends).max()) if len(ends) > 1 else 0
    scan.longest_line = max(scan.longest_line, open_line + int(ends[0]), longest)
    return len(chunk) - int(ends[-1]) - 1


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, 2) - SAMPLE_BYTES))
        return file.read()


def _guess(sample: bytes) -> str:
    import charset_normalizer

    if _only_marks(sample):
        return "cp1252"
    best = charset_normalizer.from_bytes(sample, cp_isolation=list(LIKELY)).best()
    western = best is not None and "cp1252" in best.could_be_from_charset
    if best is None or western:
        controls = any(0x80 <= byte <= 0x9F for byte in sample)
        return "cp1252" if western and controls else "latin-1"
    return str(best.encoding)


def _only_marks(sample: bytes) -> bool:
    """True when all that is not ASCII would be quotation marks, dashes, currency signs: no letter to guess by."""
    try:
        text = sample.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return not any(letter.isalpha() for letter in text if not letter.isascii())
