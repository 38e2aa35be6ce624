"""Open a stored table: its profile, and its columns batch by batch."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from engine.data.limits import BATCH_BYTES, BATCH_ROWS, names_text
from engine.data.profile import ColumnProfile, TableProfile
from engine.errors import BadData

Values: TypeAlias = "pa.Array | np.ndarray"  # a plain column, or the rows (m, ...) of an array column


@dataclass(frozen=True)
class Batch:
    """Some rows of some columns; `start` is the position of the first row in the file."""

    start: int
    n_rows: int
    columns: dict[str, Values]


@dataclass(frozen=True)
class Table:
    """A folder that `engine.data.read` wrote."""

    folder: Path
    profile: TableProfile

    def column(self, name: str) -> ColumnProfile:
        """The column of that name. Raises BadData with the names there are."""
        found = self.profile.column(name)
        if found is None:
            raise missing_column(name, self.profile)
        return found

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """All rows of the named columns, in order, some MiB at a time."""
        columns = [self.column(name) for name in dict.fromkeys(names)]
        plain = [column for column in columns if column.kind != "array"]
        arrays = {column.name: self._array(column) for column in columns if column.kind == "array"}
        step = _step(len(plain), arrays)
        start = 0
        for block in self._plain_blocks(plain, step):
            stop = start + (block.num_rows if block is not None else min(step, self.profile.n_rows - start))
            parts: dict[str, Values] = {name: np.array(array[start:stop]) for name, array in arrays.items()}
            if block is not None:
                parts |= {column.name: block.column(f"c{column.position}") for column in plain}
            yield Batch(start, stop - start, parts)
            start = stop

    def whole(self, name: str) -> pa.ChunkedArray:
        """All values of one plain column. Raises BadData for an array column."""
        column = self.column(name)
        if column.kind == "array":
            raise BadData(f"column {name} holds an array of shape {column.shape} per row; one value per row is needed")
        key = f"c{column.position}"
        return pq.read_table(self.folder / "table.parquet", columns=[key]).column(key)

    def array(self, name: str) -> np.ndarray:
        """All rows (n, ...) of one array column, read as they are used. Raises BadData for a plain column."""
        column = self.column(name)
        if column.kind != "array":
            raise BadData(f"column {name} holds one value per row; an array per row is needed")
        return self._array(column)

    def _array(self, column: ColumnProfile) -> np.ndarray:
        array: np.ndarray = np.load(
            self.folder / "arrays" / f"{column.position}.npy", mmap_mode="r", allow_pickle=False
        )
        return array

    def _plain_blocks(self, plain: list[ColumnProfile], step: int) -> Iterator[pa.RecordBatch | None]:
        if not plain:
            yield from (None for _ in range(0, self.profile.n_rows, step))
            return
        with pq.ParquetFile(self.folder / "table.parquet") as file:
            yield from file.iter_batches(batch_size=step, columns=[f"c{column.position}" for column in plain])


def open_table(folder: Path) -> Table:
    """The table stored in `folder`."""
    return Table(folder, TableProfile.model_validate_json((folder / "profile.json").read_text()))


def missing_column(name: str, profile: TableProfile, what: str = "column") -> BadData:
    """The error for a name that is not in the file: what there is, and the nearest name."""
    near = difflib.get_close_matches(name, profile.names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return BadData(f"no {what} is called {name!r}; the file has {names_text(profile.names, 30)}.{hint}")


def _step(n_plain: int, arrays: dict[str, np.ndarray]) -> int:
    row_bytes = 16 * n_plain + sum(array[:1].nbytes for array in arrays.values())
    return max(1, min(BATCH_ROWS, BATCH_BYTES // max(row_bytes, 1)))
