"""Read several labels at once, one 0 or 1 per class and row: from columns side by side, an array, or text like a|b."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.data.cells import MISSING_WORDS
from engine.data.limits import BATCH_ROWS, names_text
from engine.data.table import Table
from engine.errors import BadData

MOST_LABELS = 1_000
UNKNOWN = -1
_WORDS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1} | dict.fromkeys(MISSING_WORDS, UNKNOWN)


@dataclass(frozen=True)
class LabelTable:
    """names: one per label as the file has it, () where it has none. values: (n, k) int8 of 0 and 1, -1 unknown."""

    names: tuple[str, ...]
    values: np.ndarray


def label_table(table: Table, columns: tuple[str, ...], separator: str | None) -> LabelTable:
    """The labels of every row. Raises BadData with the row and the column of what is neither 0 nor 1."""
    kind = table.column(columns[0]).kind
    if len(columns) == 1 and kind == "array":
        return _checked(LabelTable((), _of_array(table, columns[0])), columns)
    if len(columns) == 1 and separator is not None:
        return _of_texts(table, columns[0], separator)
    if len(columns) == 1:
        raise BadData(
            f"column {columns[0]} holds one value per row; a multilabel task needs a column of 0 and 1 per class "
            "(--label a,b,…), one array with a number per class, or text such as a|b (--label-separator '|')"
        )
    return _checked(LabelTable(columns, np.stack([_of_column(table, name) for name in columns], axis=1)), columns)


def _checked(found: LabelTable, columns: tuple[str, ...]) -> LabelTable:
    """Refuse rows of which some labels are known and others are not, and a table without any."""
    unknown = found.values < 0
    torn = unknown.any(axis=1) & ~unknown.all(axis=1)
    if torn.any():
        row = int(torn.argmax())
        at = int(unknown[row].argmax())
        where = found.names[at] if found.names else f"{columns[0]}[{at}]"
        raise BadData(
            f"row {row + 1:,}, column {where}: the label is missing, other labels of the row are known "
            f"({int(torn.sum()):,} such rows); write 0 or 1, or leave all labels of a row empty"
        )
    if unknown.all():
        raise BadData(f"no row of {len(unknown):,} has a label in {names_text(columns)}")
    return found


def _of_column(table: Table, name: str) -> np.ndarray:
    """(n,) int8 of one plain column."""
    values = table.whole(name).combine_chunks()
    if pa.types.is_boolean(values.type):
        return np.asarray(pc.fill_null(pc.cast(values, pa.int8()), UNKNOWN))
    if pa.types.is_string(values.type):
        return _of_words(values, name)
    numbers = np.asarray(pc.fill_null(pc.cast(values, pa.float64(), safe=False), np.nan))
    return _of_numbers(numbers, name, 0)


def _of_words(values: pa.Array, name: str) -> np.ndarray:
    encoded = values.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    indices = np.asarray(pc.fill_null(encoded.indices, len(texts)))
    codes = [_WORDS.get(text.strip().lower()) for text in texts]
    if None in codes:
        at = codes.index(None)
        raise _no_label(int((indices == at).argmax()) + 1, name, repr(texts[at][:40]))
    found: np.ndarray = np.array([*codes, UNKNOWN], np.int8)[indices]
    return found


def _of_numbers(numbers: np.ndarray, name: str, first_row: int) -> np.ndarray:
    """(m, …) int8 of numbers that are 0, 1 or NaN."""
    missing = np.isnan(numbers)
    bad = ~missing & (numbers != 0) & (numbers != 1)
    if bad.any():
        at = tuple(int(place) for place in np.argwhere(bad)[0])
        where = name if len(at) == 1 else f"{name}[{at[1]}]"
        raise _no_label(first_row + at[0] + 1, where, f"{numbers[at]:.6g}")
    found: np.ndarray = np.where(missing, UNKNOWN, numbers).astype(np.int8)
    return found


def _of_array(table: Table, name: str) -> np.ndarray:
    """(n, k) int8 of one array column, read some rows at a time."""
    rows = table.array(name)
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        shape = "×".join(map(str, rows.shape[1:]))
        raise BadData(f"column {name} holds {shape} values of {rows.dtype} per row; labels are one 0 or 1 per class")
    parts = [
        _of_numbers(rows[start : start + BATCH_ROWS].astype(np.float64), name, start)
        for start in range(0, len(rows), BATCH_ROWS)
    ]
    return np.concatenate(parts)


def _of_texts(table: Table, name: str, separator: str) -> LabelTable:
    """Names between separators. An empty cell is a row without labels; the separator alone says that none applies."""
    values = table.whole(name).combine_chunks()
    if not pa.types.is_string(values.type):
        raise BadData(f"column {name} holds {table.column(name).kind}, not names with {separator!r} between them")
    encoded = values.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    cells = [_names_in(text, separator) for text in texts]
    names = tuple(sorted(set().union(*cells)))
    if not names:
        raise BadData(f"column {name} names no label in any of {len(values):,} rows")
    if len(names) > MOST_LABELS:
        raise BadData(f"column {name} holds {len(names):,} different labels; at most {MOST_LABELS:,} are read")
    place = {text: at for at, text in enumerate(names)}
    given = np.full((len(cells) + 1, len(names)), UNKNOWN, np.int8)  # the last one is for empty cells
    for row, cell in enumerate(cells):
        if texts[row].strip():
            given[row] = 0
            given[row, [place[text] for text in cell]] = 1
    return _checked(LabelTable(names, given[np.asarray(pc.fill_null(encoded.indices, len(cells)))]), (name,))


def _names_in(text: str, separator: str) -> set[str]:
    return {part.strip() for part in unicodedata.normalize("NFC", text).split(separator) if part.strip()}


def _no_label(row: int, column: str, shown: str) -> BadData:
    return BadData(f"row {row:,}, column {column}: {shown} is neither 0 nor 1 (false nor true), as a label has to be")
