"""Slice columns as text: categories as they are, numbers in the quarters of the train rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.data.label_values import number_text
from engine.data.limits import names_text
from engine.data.table import Table
from engine.errors import BadData
from engine.records import SliceInfo

MOST_VALUES = 1_000
MOST_WHOLE_NUMBERS = 20  # whole numbers with more values than this are put in quarters
MISSING = "(missing)"


@dataclass(frozen=True)
class SliceColumn:
    """One slice column: values are the texts, codes (n,) int32 the place of each row among them."""

    name: str
    values: tuple[str, ...]
    codes: np.ndarray

    def counts(self) -> list[SliceInfo]:
        """Rows of the file per value."""
        counted = np.bincount(self.codes, minlength=len(self.values))
        return [
            SliceInfo(column=self.name, value=value, n_rows=int(n_rows))
            for value, n_rows in zip(self.values, counted, strict=True)
            if n_rows
        ]


def slice_column(table: Table, name: str, train_rows: np.ndarray) -> SliceColumn:
    """The slices of one column; train_rows: row numbers that decide the quarters. Raises BadData."""
    values = table.whole(name).combine_chunks()
    if pa.types.is_floating(values.type) or pa.types.is_integer(values.type):
        return _of_numbers(name, np.asarray(pc.fill_null(pc.cast(values, pa.float64()), np.nan)), train_rows)
    if pa.types.is_boolean(values.type):
        values = pc.utf8_title(pc.cast(values, pa.string()))
    encoded = values.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    if len(texts) > MOST_VALUES:
        raise BadData(
            f"slice column {name} has {len(texts):,} different values such as {names_text(texts, 3)}; at most "
            f"{MOST_VALUES:,} can be judged one by one. Give it another role"
        )
    return SliceColumn(name, (*texts, MISSING), np.asarray(pc.fill_null(encoded.indices, len(texts)), dtype=np.int32))


def _of_numbers(name: str, numbers: np.ndarray, train_rows: np.ndarray) -> SliceColumn:
    known = ~np.isnan(numbers)
    distinct = np.unique(numbers[known])
    whole = bool(np.all(np.isfinite(distinct)) and np.all(np.mod(distinct, 1) == 0))
    if len(distinct) <= (MOST_WHOLE_NUMBERS if whole else 2):
        codes = np.where(known, np.searchsorted(distinct, numbers), len(distinct))
        return SliceColumn(name, (*map(number_text, distinct.tolist()), MISSING), codes.astype(np.int32))
    decisive = numbers[train_rows]
    decisive = decisive[np.isfinite(decisive)] if np.isfinite(decisive).any() else numbers[np.isfinite(numbers)]
    edges = np.unique(np.quantile(decisive, (0.25, 0.5, 0.75)))
    codes = np.where(known, np.searchsorted(edges, numbers, side="left"), len(edges) + 1)
    return SliceColumn(name, (*_ranges(edges), MISSING), codes.astype(np.int32))


def _ranges(edges: np.ndarray) -> list[str]:
    """Names of the ranges between edges; an edge belongs to the range below it."""
    said = [f"{edge:.4g}" for edge in edges]
    if len(set(said)) < len(said):
        said = [repr(float(edge)) for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(said)]
    return [f"up to {said[0]}", *between, f"above {said[-1]}"]
