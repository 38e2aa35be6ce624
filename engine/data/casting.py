"""Turn the values of one column into the dtype an input takes. What would change a value is refused with its row.

Safe: whole numbers and floats to a float dtype (rounded as that dtype rounds), floats that are whole to an integer
dtype that holds them, true/false to 1/0, text that reads as numbers. A missing value becomes NaN in a float, '' in
text, and is refused in an integer.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.data.cells import MISSING_WORDS, NUMBER
from engine.data.mapping import PREPARATION
from engine.data.profile import ColumnProfile
from engine.data.statistics import cell_text
from engine.data.table import Values
from engine.data.tally import Tally
from engine.errors import BadData, Mismatch

_TRUTH = ("true", "false")


def cast_column(values: Values, column: ColumnProfile, dtype: str, first_row: int, tally: Tally) -> np.ndarray:
    """Values (m,) or (m, ...) of a column as dtype ('string' gives '<U').

    first_row counts from 0; rows in messages count from 1. Raises BadData or Mismatch.
    """
    if isinstance(values, np.ndarray):
        return _cast_array(values, column, dtype, first_row, tally)
    if dtype == "string":
        return _to_text(values, column, tally)
    if pa.types.is_string(values.type):
        if column.kind == "true/false":
            values = _truths(values, column, dtype, tally)
        else:
            values = _numbers(values, column, dtype, first_row, tally)
    missing = np.asarray(pc.is_null(values))
    filled = np.asarray(pc.fill_null(values, False if pa.types.is_boolean(values.type) else 0))
    return _to_dtype(filled, missing, column, dtype, first_row, tally)


def _cast_array(values: np.ndarray, column: ColumnProfile, dtype: str, first_row: int, tally: Tally) -> np.ndarray:
    text = values.dtype.kind == "U"
    if text != (dtype == "string"):
        held = "text" if text else str(values.dtype)
        raise Mismatch(f"column {column.name} holds {held}, the input needs {dtype}. {PREPARATION}")
    return values if text else _to_dtype(values, np.zeros(values.shape, bool), column, dtype, first_row, tally)


def _to_dtype(
    values: np.ndarray, missing: np.ndarray, column: ColumnProfile, dtype: str, first_row: int, tally: Tally
) -> np.ndarray:
    target = np.dtype(dtype)
    missing = missing | np.isnan(values) if values.dtype.kind == "f" else missing
    if values.dtype != target:
        tally.cast(column.name, str(values.dtype), dtype)
    if target.kind != "f":
        return _to_whole(values, missing, column, target, first_row)
    tally.missing(column.name, int(missing.sum()), "NaN")
    with np.errstate(over="ignore"):
        cast = values.astype(target)
    lost = np.isinf(cast) & ~np.isinf(values) if values.dtype.kind == "f" else np.isinf(cast)
    if lost.any():
        raise BadData(_at(lost, values, column, first_row, f"is too large for {dtype}"))
    if missing.any():
        cast[missing] = np.nan
    return cast


def _to_whole(
    values: np.ndarray, missing: np.ndarray, column: ColumnProfile, target: np.dtype, first_row: int
) -> np.ndarray:
    needs = f"the input needs {target}"
    if missing.any():
        raise BadData(_at(missing, None, column, first_row, f"has no value; {needs}"))
    if values.dtype.kind == "f":
        broken = values != np.floor(values)
        if broken.any():
            raise BadData(_at(broken, values, column, first_row, f"is not a whole number; {needs}"))
    low, high = (0, 1) if target.kind == "b" else (np.iinfo(target).min, np.iinfo(target).max)
    outside = (values < low) | (values > high) if values.dtype.kind != "b" else np.zeros(values.shape, bool)
    if values.dtype.kind == "f" and high > 2**53:  # float64 rounds the upper end of int64 up to 2**63
        outside |= values >= float(high)
    if outside.any():
        raise BadData(_at(outside, values, column, first_row, f"is outside {low} … {high}; {needs}"))
    return values.astype(target)


def _at(wrong: np.ndarray, values: np.ndarray | None, column: ColumnProfile, first_row: int, what: str) -> str:
    """'row 4, column ids: 4.5 is not a whole number; …' for the first wrong cell."""
    where = tuple(int(axis) for axis in np.argwhere(wrong)[0])
    place = "" if len(where) == 1 else f" at position {', '.join(str(axis) for axis in where[1:])}"
    count = int(wrong.sum())
    more = f" ({count:,} such cells among the rows read)" if count > 1 else ""
    value = "the cell" if values is None else cell_text(values[where].item())
    return f"row {first_row + where[0] + 1:,}, column {column.name}{place}: {value} {what}{more}"


def _to_text(values: pa.Array, column: ColumnProfile, tally: Tally) -> np.ndarray:
    tally.missing(column.name, values.null_count, "empty text")
    if not pa.types.is_string(values.type):
        tally.cast(column.name, column.dtype, "text")
    texts = [cell_text(value) for value in values.to_pylist()]
    return np.array(texts, dtype=f"<U{max(map(len, texts), default=1) or 1}")


def _truths(values: pa.Array, column: ColumnProfile, dtype: str, tally: Tally) -> pa.Array:
    tally.cast(column.name, "true/false", dtype)
    return pc.if_else(pc.is_null(values), pa.scalar(None, pa.bool_()), pc.equal(pc.utf8_lower(values), "true"))


def _numbers(values: pa.Array, column: ColumnProfile, dtype: str, first_row: int, tally: Tally) -> pa.Array:
    """Text cells as float64, or as int64 where all are whole; NA and the like become null."""
    trimmed = pc.utf8_trim_whitespace(values)
    word = pc.fill_null(pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(["", *sorted(MISSING_WORDS)])), False)
    number = pc.fill_null(pc.match_substring_regex(trimmed, NUMBER), True)
    bad = pc.index(pc.or_(number, word), False).as_py()
    if bad >= 0:
        raise Mismatch(
            f"row {first_row + bad + 1:,}, column {column.name}: {cell_text(values[bad].as_py())[:60]!r} is text; "
            f"the input needs {dtype}. {PREPARATION}"
        )
    for entry in pc.value_counts(trimmed.filter(word)).to_pylist():
        tally.word(column.name, entry["values"], entry["counts"])
    tally.cast(column.name, "text", dtype)
    cells = pc.if_else(word, None, trimmed)
    whole = pc.all(pc.match_substring_regex(pc.drop_null(cells), r"^-?\d{1,18}$"), min_count=0).as_py()
    return pc.cast(cells, pa.int64() if whole else pa.float64())


def category_codes(values: Values, column: ColumnProfile, categories: tuple[str, ...], tally: Tally) -> np.ndarray:
    """(m,) float64 positions in the model's list; missing and unknown values are NaN, unknown ones counted."""
    if isinstance(values, np.ndarray):
        raise Mismatch(f"column {column.name} holds arrays; the model takes one category per row")
    exact = {text: code for code, text in reversed(list(enumerate(categories)))}
    alike = {category_key(text): code for code, text in reversed(list(enumerate(categories)))}
    encoded = values.dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    codes = [exact.get(value, alike.get(category_key(value))) for value in distinct]
    missing = [isinstance(value, float) and np.isnan(value) for value in distinct]
    indices = np.asarray(pc.fill_null(encoded.indices, len(distinct)))
    table = np.array([np.nan if code is None else code for code in codes] + [np.nan], dtype=np.float64)
    counts = np.bincount(indices, minlength=len(distinct) + 1)[: len(distinct)]
    strange = {
        cell_text(v): int(n) for v, n, c, m in zip(distinct, counts, codes, missing, strict=True) if c is None and not m
    }
    tally.categories(column.name, int(counts[~np.array(missing, dtype=bool)].sum()), strange)
    result: np.ndarray = table[indices]
    return result


def category_key(value: object) -> object:
    """Equal for the same category however it is written: 1, 1.0 and '1'; True and 'true'."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        lowered = value.lower()
        return float(value) if re.fullmatch(NUMBER, value) else lowered if lowered in _TRUTH else value
    return float(value) if isinstance(value, int | float) else value
