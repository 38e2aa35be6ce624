"""Bring the many column types of Arrow and Parquet to the few that are stored: numbers, truth values, text, arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.data.limits import MAX_BATCH_TEXT_BYTES, MAX_CELL_BYTES, MAX_NESTING, Budget, size_text
from engine.data.profile import ColumnKind
from engine.errors import BadData


class UnevenRowError(Exception):
    """One list is missing, incomplete or of another length than the others. position: of its row, from 0."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


@dataclass(frozen=True)
class Stored:
    """How one column is kept. kind None: it is left out, for the reason given."""

    kind: ColumnKind | None
    dtype: str = ""
    reason: str = ""


def stored_as(name: str, kind: pa.DataType) -> Stored:
    """What becomes of a column of this type. Raises BadData when its lists are nested too deep."""
    kind = plain_type(kind)
    if is_list(kind):
        element, depth = _element(kind)
        if depth > MAX_NESTING:
            raise BadData(f"column {name}: lists nested {depth} deep; at most {MAX_NESTING} are read")
        inner = stored_as(name, element)
        numeric = inner.kind in ("whole number", "number", "true/false")
        return Stored("array", inner.dtype) if numeric else Stored(None, reason=f"lists of {element}")
    if pa.types.is_boolean(kind):
        return Stored("true/false", "bool")
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind):
        return Stored("whole number" if pa.types.is_integer(kind) else "number", _number_dtype(kind))
    if is_text(kind) or pa.types.is_temporal(kind):
        return Stored("text" if is_text(kind) else "time", "string")
    return Stored(None, reason=f"values of type {str(kind)[:40]}")


def _number_dtype(kind: pa.DataType) -> str:
    if pa.types.is_float16(kind):
        return "float32"
    return "float64" if pa.types.is_decimal(kind) or pa.types.is_null(kind) else str(np.dtype(kind.to_pandas_dtype()))


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type behind a dictionary or an extension."""
    while isinstance(kind, pa.BaseExtensionType) or pa.types.is_dictionary(kind):
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind.storage_type
    return kind


def is_list(kind: pa.DataType) -> bool:
    """Lists of any or of one length."""
    return any((pa.types.is_list(kind), pa.types.is_large_list(kind), pa.types.is_fixed_size_list(kind)))


def is_text(kind: pa.DataType) -> bool:
    """Text or bytes, however they are kept."""
    checks = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "fixed_size_binary")
    return any(getattr(pa.types, f"is_{check}")(kind) for check in checks)


def _element(kind: pa.DataType) -> tuple[pa.DataType, int]:
    depth = 0
    while is_list(kind):
        kind, depth = kind.value_type, depth + 1
    return plain_type(kind), depth


def to_stored(name: str, values: pa.Array, dtype: str, budget: Budget, first_row: int) -> pa.Array:
    """The values of a plain column as the stored type; first_row (0-based) is for messages."""
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if dtype != "string":
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        budget.take(len(values) * 8)
        target = pa.bool_() if dtype == "bool" else pa.from_numpy_dtype(np.dtype(dtype))
        return pc.cast(values, target, safe=False) if values.type != target else values
    if not is_text(plain_type(values.type)):
        values = pc.cast(values.dictionary_decode() if pa.types.is_dictionary(values.type) else values, pa.string())
    return _text(name, values, budget, first_row)


def _text(name: str, values: pa.Array, budget: Budget, first_row: int) -> pa.Array:
    lengths = pc.fill_null(_lengths(values), 0)
    longest = int(pc.max(lengths).as_py() or 0)
    if longest > MAX_CELL_BYTES:
        row = first_row + int(pc.index(lengths, longest).as_py()) + 1
        raise BadData(
            f"row {row:,}, column {name}: a text of {size_text(longest)}; at most {size_text(MAX_CELL_BYTES)} are read"
        )
    total = int(pc.sum(lengths).as_py() or 0)
    if total > MAX_BATCH_TEXT_BYTES:
        raise BadData(
            f"column {name}: {len(values):,} rows from row {first_row + 1:,} on hold {size_text(total)} of text once "
            f"read; at most {size_text(MAX_BATCH_TEXT_BYTES)} are read at a time"
        )
    budget.take(total)
    try:
        return pc.cast(values, pa.string())
    except pa.ArrowInvalid as error:
        raise BadData(f"column {name} holds bytes that are no UTF-8 text; leave it out or save it as text") from error


def _lengths(values: pa.Array) -> pa.Array:
    """Bytes of each text, found without unfolding a dictionary."""
    if not pa.types.is_dictionary(values.type):
        return pc.cast(pc.binary_length(values), pa.int64())
    return pc.cast(pc.binary_length(values.dictionary), pa.int64()).take(values.indices)


def to_array(values: pa.Array, dtype: str) -> np.ndarray:
    """Lists of one length as (n, ...) dtype; a missing number is NaN. Raises UnevenRowError."""
    shape = [len(values)]
    while is_list(values.type):
        per_row = max(int(np.prod(shape[1:])), 1)
        if values.null_count:
            raise UnevenRowError(int(pc.index(pc.is_null(values), True).as_py()) // per_row)
        lengths = pc.cast(pc.list_value_length(values), pa.int64())
        first = lengths[0] if len(lengths) else pa.scalar(0, pa.int64())
        odd = pc.index(pc.equal(lengths, first), False).as_py()
        if odd >= 0:
            raise UnevenRowError(odd // per_row)
        shape.append(int(first.as_py()))
        values = values.flatten()
    flat = values.storage if isinstance(values, pa.ExtensionArray) else values
    if pa.types.is_dictionary(flat.type):
        flat = flat.dictionary_decode()
    if flat.null_count and np.dtype(dtype).kind != "f":
        raise UnevenRowError(int(pc.index(pc.is_null(flat), True).as_py()) // max(int(np.prod(shape[1:])), 1))
    return np.asarray(flat.to_numpy(zero_copy_only=False)).astype(dtype, copy=False).reshape(shape)
