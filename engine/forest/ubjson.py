"""Universal Binary JSON as XGBoost writes it: read with every length checked, and written.

Only what XGBoost uses: objects, arrays with or without a stated size, typed arrays of numbers, all of them big-endian
(Universal Binary JSON, draft 12).
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from engine.errors import BadModel

MAX_DEPTH = 16
_ARRAYS = {b"i": "i1", b"U": "u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
_NUMBERS = {
    b"i": struct.Struct(">b"),
    b"U": struct.Struct(">B"),
    b"I": struct.Struct(">h"),
    b"l": struct.Struct(">i"),
    b"L": struct.Struct(">q"),
    b"d": struct.Struct(">f"),
    b"D": struct.Struct(">d"),
}
_WORDS = {b"Z": None, b"T": True, b"F": False}
_WRITTEN = {"u1": b"U", "i4": b"l", "i8": b"L", "f4": b"d", "f8": b"D"}


def decode(data: bytes) -> Any:
    """The document: dict, list, str, int, float, bool, None and one-dimensional arrays. Raises BadModel."""
    reader = _Reader(data)
    value = reader.value(0)
    if reader.at != len(data):
        raise _damaged(reader.at, "something follows the end of the document")
    return value


def _damaged(at: int, what: str) -> BadModel:
    return BadModel(f"the UBJSON file is damaged or cut off at byte {at:,}: {what}. Save the model again.")


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, n: int) -> bytes:
        """The next n bytes."""
        if not 0 <= n <= len(self.data) - self.at:
            raise _damaged(self.at, f"{n:,} more bytes are announced, {len(self.data) - self.at:,} are left")
        self.at += n
        return self.data[self.at - n : self.at]

    def value(self, depth: int) -> Any:
        """The value that begins here."""
        mark = self.take(1)
        if mark in _NUMBERS:
            return self._number(mark)
        if mark in _WORDS:
            return _WORDS[mark]
        if mark == b"S":
            return self._text()
        if depth >= MAX_DEPTH:
            raise _damaged(self.at, f"nested deeper than {MAX_DEPTH}")
        if mark == b"{":
            return self._object(depth)
        if mark == b"[":
            return self._array(depth)
        raise _damaged(self.at - 1, f"unknown mark {mark!r}")

    def _number(self, mark: bytes) -> Any:
        layout = _NUMBERS[mark]
        return layout.unpack(self.take(layout.size))[0]

    def _length(self) -> int:
        mark = self.take(1)
        if mark not in _NUMBERS or mark in b"dD":
            raise _damaged(self.at - 1, f"{mark!r} stands where a length belongs")
        return int(self._number(mark))

    def _text(self) -> str:
        raw = self.take(self._length())
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _damaged(self.at, "a text is not UTF-8") from error

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while (mark := self.take(1)) != b"}":
            self.at -= len(mark)
            key = self._text()
            if key in found:
                raise _damaged(self.at, f"{key[:40]!r} occurs twice")
            found[key] = self.value(depth + 1)
        return found

    def _array(self, depth: int) -> Any:
        first = self.take(1)
        if first == b"#":
            return [self.value(depth + 1) for _ in range(self._length())]
        if first == b"$":
            mark = self.take(1)
            if mark not in _ARRAYS or self.take(1) != b"#":
                raise _damaged(self.at, f"an array of unknown type {mark!r}")
            kind = np.dtype(_ARRAYS[mark])
            n = self._length()
            return np.frombuffer(self.take(n * kind.itemsize), kind).astype(kind.newbyteorder("="))
        self.at -= 1
        found = []
        while (mark := self.take(1)) != b"]":
            self.at -= len(mark)
            found.append(self.value(depth + 1))
        return found


def encode(value: Any) -> bytes:
    """The bytes of a document as `decode` gives it; single numbers with a fraction are written in single precision."""
    parts: list[bytes] = []
    _write(value, parts)
    return b"".join(parts)


def _write(value: Any, parts: list[bytes]) -> None:
    if isinstance(value, dict):
        parts.append(b"{")
        for key, inner in value.items():
            parts.append(_sized(key.encode()))
            _write(inner, parts)
        parts.append(b"}")
    elif isinstance(value, np.ndarray):
        mark = _WRITTEN[value.dtype.newbyteorder("=").str[1:]]
        parts.append(b"[$" + mark + b"#L" + struct.pack(">q", len(value)))
        parts.append(value.astype(value.dtype.newbyteorder(">")).tobytes())
    elif isinstance(value, list):
        parts.append(b"[#L" + struct.pack(">q", len(value)))
        for inner in value:
            _write(inner, parts)
    elif isinstance(value, str):
        parts.append(b"S" + _sized(value.encode()))
    elif isinstance(value, float):
        parts.append(b"d" + struct.pack(">f", value))
    else:
        assert isinstance(value, int), "the checked document holds nothing else"
        parts.append(b"L" + struct.pack(">q", value))


def _sized(raw: bytes) -> bytes:
    return b"L" + struct.pack(">q", len(raw)) + raw
