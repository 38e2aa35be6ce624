"""Write a data file once more in one plain form: columns in table.parquet, whole arrays in arrays/<position>.npy."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from engine.data.profile import ColumnKind, TableProfile
from engine.data.statistics import PREVIEW_ROWS, ColumnStatistics

ARROW_TYPES = {"string": pa.string(), "bool": pa.bool_()}


def arrow_type(dtype: str) -> pa.DataType:
    """The stored type behind a dtype of a ColumnProfile."""
    return ARROW_TYPES.get(dtype) or pa.from_numpy_dtype(np.dtype(dtype))


class PlainColumns:
    """Writes the plain columns of a table, batch by batch, and describes them on the way.

    columns: (position in the file, name, kind, dtype) of each plain column.
    """

    def __init__(self, out: Path, columns: list[tuple[int, str, ColumnKind, str]]) -> None:
        self.statistics = {at: ColumnStatistics(at, name, kind, dtype) for at, name, kind, dtype in columns}
        self._schema = pa.schema([(f"c{at}", arrow_type(dtype)) for at, _, _, dtype in columns])
        self._writer = pq.ParquetWriter(out / "table.parquet", self._schema, compression="zstd") if columns else None

    def __enter__(self) -> PlainColumns:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._writer is not None:
            self._writer.close()

    def add(self, columns: list[pa.Array]) -> None:
        """Write the next rows; one array per plain column, in order, of the stored type."""
        if self._writer is None:
            return
        for statistics, values in zip(self.statistics.values(), columns, strict=True):
            statistics.add(values)
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))


def preview(heads: dict[int, list[str]]) -> tuple[tuple[str, ...], ...]:
    """The first rows as text from the heads of all columns, in the order of the file."""
    columns = [heads[at] for at in sorted(heads)]
    return tuple(zip(*columns, strict=True))[:PREVIEW_ROWS]


def save_profile(out: Path, profile: TableProfile) -> None:
    """Write profile.json beside the data."""
    (out / "profile.json").write_text(json.dumps(profile.model_dump(mode="json"), ensure_ascii=False, indent=1))
