"""Does a file have the outline of an ONNX model? Reads the outermost protobuf fields and skips what is in them."""

from __future__ import annotations

from typing import BinaryIO

# field number of ModelProto -> wire type (0 varint, 2 length and bytes)
_FIELDS = {1: 0, 2: 2, 3: 2, 4: 2, 5: 0, 6: 2, 7: 2, 8: 2, 14: 2, 20: 2, 25: 2, 26: 2}
_GRAPH, _IR_VERSION = 7, 1
_MAX_FIELDS = 1000


def has_outline(file: BinaryIO) -> bool:
    """True when the fields from the start on are a model's, up to its graph; the graph itself may be cut."""
    file.seek(0)
    for position in range(_MAX_FIELDS):
        key = _varint(file)
        if key is None:
            return False
        field, wire = key >> 3, key & 7
        if _FIELDS.get(field) != wire:
            return False
        value = _varint(file)
        if value is None or (position == 0 and field == _IR_VERSION and not 0 < value < 1000):
            return False
        if field == _GRAPH:
            return True
        if wire == 2:
            file.seek(value, 1)
    return False


def _varint(file: BinaryIO) -> int | None:
    value = 0
    for shift in range(0, 63, 7):
        byte = file.read(1)
        if not byte:
            return None
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
    return None
