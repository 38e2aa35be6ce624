"""Write a bound evaluation set: one folder per split with the inputs as the model takes them, labels and row facts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from engine.data.array_file import ArrayFile
from engine.data.limits import MAX_BYTES, size_text
from engine.data.placement import Placement
from engine.data.slices import SliceColumn
from engine.data.stored import INPUTS_FILE, LABELS_FILE, ROWS_FILE
from engine.errors import BadData
from engine.records import SplitName

SPLIT_NAMES: tuple[SplitName, ...] = get_args(SplitName)


@dataclass(frozen=True)
class Shape:
    """dtype and shape of one row of an input."""

    dtype: np.dtype
    shape: tuple[int, ...]


@dataclass(frozen=True)
class RowFacts:
    """Columns of rows.parquet beside the row number: name -> one value per row of the evaluation file."""

    columns: dict[str, pa.Array]
    slices: tuple[SliceColumn, ...]
    n_rows: int


def write_inputs(
    out: Path, shapes: dict[str, Shape], placement: Placement, batches: Iterator[tuple[int, dict[str, np.ndarray]]]
) -> None:
    """Write every split's rows in order. batches: (number of the first row, input name -> (m, ...)), all rows."""
    rows = {split: placement.rows(split) for split in SPLIT_NAMES}
    _check_size(shapes, rows)
    with ExitStack() as stack:
        files: dict[SplitName, dict[str, ArrayFile]] = {}
        for split in SPLIT_NAMES:
            folder = out / split
            files[split] = {
                name: stack.enter_context(ArrayFile(folder / f"input_{at}.npy", one.dtype, one.shape))
                for at, (name, one) in enumerate(shapes.items())
            }
            (folder / INPUTS_FILE).write_text(json.dumps(list(shapes), ensure_ascii=False))
        for start, values in batches:
            stop = start + len(next(iter(values.values())))
            for split, numbers in rows.items():
                first, last = np.searchsorted(numbers, (start, stop))
                if first < last:
                    chosen = numbers[first:last] - start
                    for name, file in files[split].items():
                        file.append(values[name][chosen])


def write_labels(out: Path, labels: np.ndarray | None, placement: Placement) -> None:
    """labels: (n,) int64 or float64, or (n, k) int8, for all rows; or None."""
    if labels is None:
        return
    for split in SPLIT_NAMES:
        np.save(out / split / LABELS_FILE, labels[placement.rows(split)], allow_pickle=False)


def write_rows(out: Path, facts: RowFacts, placement: Placement) -> None:
    """rows.parquet of every split. Rows beyond the evaluation file (train only) have a number and nothing else."""
    for split in SPLIT_NAMES:
        numbers = placement.rows(split)
        inside = pa.array(numbers, mask=numbers >= facts.n_rows)
        columns = {"row": pa.array(numbers, pa.int64())}
        for name, values in facts.columns.items():
            columns[name] = values.take(inside)
        for one in facts.slices:
            texts = pa.DictionaryArray.from_arrays(pa.array(one.codes), pa.array(one.values, pa.string()))
            columns[f"slice:{one.name}"] = texts.take(inside).dictionary_decode()
        pq.write_table(pa.table(columns), out / split / ROWS_FILE)


def _check_size(shapes: dict[str, Shape], rows: dict[SplitName, np.ndarray]) -> None:
    for name, one in shapes.items():
        row_bytes = one.dtype.itemsize * int(np.prod(one.shape, dtype=np.int64))
        for split, numbers in rows.items():
            if row_bytes * len(numbers) > MAX_BYTES:
                raise BadData(
                    f"input {name} of the {split} rows takes {size_text(row_bytes * len(numbers))}; at most "
                    f"{size_text(MAX_BYTES)} are kept. Use fewer rows"
                )
