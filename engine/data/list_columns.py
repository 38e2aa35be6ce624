"""The list columns of a Parquet or Arrow table: each row a whole array, written as it comes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from engine.data.array_file import ArrayFile, array_profile, array_text
from engine.data.arrow_types import UnevenRowError, to_array
from engine.data.limits import Budget
from engine.data.profile import ColumnProfile
from engine.data.statistics import PREVIEW_ROWS


class ListColumns:
    """Writes list columns to out/arrays/<position>.npy. One whose lists differ in length is given up and noted.

    columns: position in the file -> (name, dtype).
    """

    def __init__(self, out: Path, columns: dict[int, tuple[str, str]]) -> None:
        self.columns = dict(columns)
        self.heads: dict[int, list[str]] = {at: [] for at in columns}
        self.notes: list[str] = []
        self._folder = out / "arrays"
        self._files: dict[int, ArrayFile] = {}

    def add(self, at: int, values: pa.Array, first_row: int, budget: Budget) -> None:
        """Write the next rows of the column at that position; first_row counts from 0."""
        try:
            rows = to_array(values, self.columns[at][1])
            self._check_shape(at, rows.shape[1:])
        except UnevenRowError as error:
            self._give_up(at, first_row + error.position + 1)
            return
        budget.take(rows.nbytes)
        if at not in self._files:
            self._files[at] = ArrayFile(self._folder / f"{at}.npy", rows.dtype, rows.shape[1:])
        self._files[at].append(rows)
        self.heads[at] += [array_text(row) for row in rows[: max(0, PREVIEW_ROWS - len(self.heads[at]))]]

    def close(self) -> dict[int, ColumnProfile]:
        """Finish the files; the description of each column that was kept."""
        for file in self._files.values():
            file.close()
        return {at: array_profile(at, self.columns[at][0], file.dtype, file.shape) for at, file in self._files.items()}

    def _check_shape(self, at: int, shape: tuple[int, ...]) -> None:
        if at in self._files and shape != self._files[at].shape:
            raise UnevenRowError(0)

    def _give_up(self, at: int, row: int) -> None:
        name = self.columns.pop(at)[0]
        del self.heads[at]
        self.notes.append(
            f"Column {name} ignored: the list in row {row:,} is missing, incomplete or of another length than the first"
        )
        if at in self._files:
            self._files.pop(at).remove()
