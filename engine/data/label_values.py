"""Read the label column as it stands: numbers, or text with its distinct values."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.data.cells import MISSING_WORDS, NUMBER
from engine.data.statistics import cell_text
from engine.data.table import Table
from engine.errors import BadData

MOST_CLASSES = 10_000


@dataclass(frozen=True)
class LabelValues:
    """One label per row.

    texts: the distinct values as text, sorted (numbers by size). codes: (n,) int64 position in texts, -1 where empty.
    numbers: (n,) float64 with NaN where empty or no number; None for text. numeric: every distinct value is a number.
    words: texts that may mean "missing" in a column of numbers, such as NA.
    """

    column: str
    texts: tuple[str, ...]
    codes: np.ndarray
    numbers: np.ndarray | None
    numeric: bool
    words: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """All values that are numbers are whole."""
        return self.numbers is not None and bool(np.all(np.mod(self.numbers[np.isfinite(self.numbers)], 1) == 0))


def label_values(table: Table, name: str) -> LabelValues:
    """The values of the label column. Raises BadData when it is empty or holds an array per row."""
    values = table.whole(name).combine_chunks()
    read = _numbers if table.column(name).kind in ("number", "whole number") else _texts
    found = read(values, name)
    if not np.any(found.codes >= 0) and not (found.numbers is not None and np.any(np.isfinite(found.numbers))):
        raise BadData(f"column {name} has no label in any of {len(values):,} rows")
    return found


def _texts(values: pa.Array, name: str) -> LabelValues:
    if pa.types.is_boolean(values.type):
        values = pc.cast(values, pa.string())
        values = pc.utf8_title(values)
    encoded = values.dictionary_encode()
    raw = [unicodedata.normalize("NFC", text) for text in encoded.dictionary.to_pylist()]
    _check_count(len(raw), name)
    texts = tuple(sorted(set(raw)))
    position = {text: at for at, text in enumerate(texts)}
    table = np.array([position[text] for text in raw] + [-1], dtype=np.int64)
    indices = np.asarray(pc.fill_null(encoded.indices, len(raw)))
    return LabelValues(name, texts, table[indices], None, numeric=False)


def _numbers(values: pa.Array, name: str) -> LabelValues:
    """Numbers, or numbers and words: then the words stay text values beside the numbers."""
    words: tuple[str, ...] = ()
    texts = None
    if pa.types.is_string(values.type):
        trimmed = pc.utf8_trim_whitespace(values)
        is_number = pc.fill_null(pc.match_substring_regex(trimmed, NUMBER), False)
        texts = pc.if_else(is_number, None, trimmed)
        words = tuple(
            sorted(word for word in pc.drop_null(texts).unique().to_pylist() if word.lower() in MISSING_WORDS)
        )
        values = pc.cast(pc.if_else(is_number, trimmed, None), pa.float64())
    numbers = np.asarray(pc.fill_null(pc.cast(values, pa.float64(), safe=False), np.nan), dtype=np.float64)
    present = np.isfinite(numbers)
    distinct, inverse = np.unique(numbers[present], return_inverse=True)
    if len(distinct) > MOST_CLASSES:
        return LabelValues(name, (), np.full(len(numbers), -1), numbers, numeric=not words, words=words)
    codes = np.full(len(numbers), -1, dtype=np.int64)
    codes[present] = inverse
    names = [number_text(value) for value in distinct.tolist()]
    if texts is not None:
        for word in words:
            codes[np.asarray(pc.fill_null(pc.equal(texts, word), False))] = len(names)
            names.append(word)
    return LabelValues(name, tuple(names), codes, numbers, numeric=not words, words=words)


def _check_count(n_values: int, name: str) -> None:
    if n_values > MOST_CLASSES:
        raise BadData(
            f"the label column {name} has {n_values:,} different texts; at most {MOST_CLASSES:,} classes are read"
        )


def number_text(value: float) -> str:
    """A label that is a number as text: 1 for 1.0, 0.5 for 0.5."""
    return str(int(value)) if value == int(value) else cell_text(value)
