"""Describe columns while their values stream by: missing values, distinct values, examples, the first rows."""

from __future__ import annotations

import math

import pyarrow as pa
import pyarrow.compute as pc

from engine.data.profile import ColumnKind, ColumnProfile

MOST_DISTINCT = 1_000
PREVIEW_ROWS = 20
N_EXAMPLES = 5
EXAMPLE_CHARS = 60
CELL_CHARS = 200


class ColumnStatistics:
    """The running description of one plain column."""

    def __init__(self, position: int, name: str, kind: ColumnKind, dtype: str) -> None:
        self.position, self.name, self.kind, self.dtype = position, name, kind, dtype
        self.n_missing = 0
        self.head: list[str] = []
        self._distinct: dict[object, None] | None = {}
        self._examples: tuple[str, ...] = ()

    def add(self, values: pa.Array) -> None:
        """Take the values of the next rows; null is missing."""
        filled = pc.drop_null(values)
        if pa.types.is_floating(values.type):
            filled = filled.filter(pc.invert(pc.is_nan(filled)))
        self.n_missing += len(values) - len(filled)
        if len(self.head) < PREVIEW_ROWS:
            wanted = PREVIEW_ROWS - len(self.head)
            self.head += [cell_text(value) for value in values.slice(0, wanted).to_pylist()]
        if self._distinct is not None:
            self._distinct |= dict.fromkeys(filled.unique().to_pylist())
            self._examples = tuple(cell_text(value)[:EXAMPLE_CHARS] for value in list(self._distinct)[:N_EXAMPLES])
            if len(self._distinct) > MOST_DISTINCT:
                self._distinct = None

    def profile(self) -> ColumnProfile:
        """What was seen so far."""
        return ColumnProfile(
            name=self.name,
            position=self.position,
            kind=self.kind,
            dtype=self.dtype,
            n_missing=self.n_missing,
            n_unique=None if self._distinct is None else len(self._distinct),
            examples=self._examples,
        )


def cell_text(value: object) -> str:
    """One value as a person would write it; missing is ''. Whole floats keep their point."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return repr(value)
    return str(value)[:CELL_CHARS]
