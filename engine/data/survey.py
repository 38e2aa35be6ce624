"""Go through all rows once before anything is written: refuse unsafe values, learn widths and digests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.data.canonical import row_digests
from engine.data.evalset_writer import Shape
from engine.data.inputs import fill_inputs
from engine.data.mapping import Plan
from engine.data.table import Table
from engine.data.tally import Tally

if TYPE_CHECKING:
    from engine.sandbox import Talk


@dataclass(frozen=True)
class Surveyed:
    """shapes: input name -> dtype and shape of a row; digests: (n, 2) uint64 of the rows' inputs."""

    shapes: dict[str, Shape]
    digests: np.ndarray


def survey_inputs(plan: Plan, table: Table, tally: Tally, talk: Talk) -> Surveyed:
    """Fill every row once and keep only what is small. Raises BadData or Mismatch with the row."""
    shapes: dict[str, Shape] = {}
    digests: list[np.ndarray] = []
    for start, values in filled_batches(plan, table, tally):
        digests.append(row_digests(values))
        shapes = {name: _wider(shapes.get(name), rows) for name, rows in values.items()}
        done = start + len(digests[-1])
        n_rows = table.profile.n_rows
        talk.send({"progress": 0.5 * done / n_rows, "message": f"{done:,} of {n_rows:,} rows checked"})
    return Surveyed(shapes, np.concatenate(digests))


def filled_batches(plan: Plan, table: Table, tally: Tally) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """(number of the first row, input name -> (m, ...)) for all rows in order."""
    for batch in table.batches(plan.columns):
        yield batch.start, fill_inputs(plan, table, batch, tally)


def joint_shapes(one: dict[str, Shape], other: dict[str, Shape]) -> dict[str, Shape]:
    """Shapes that hold the rows of two tables: text as wide as the wider."""
    return {
        name: Shape(max(shape.dtype, other[name].dtype, key=lambda d: d.itemsize), shape.shape)
        for name, shape in one.items()
    }


def _wider(known: Shape | None, rows: np.ndarray) -> Shape:
    dtype = rows.dtype if known is None or rows.dtype.itemsize > known.dtype.itemsize else known.dtype
    return Shape(dtype, rows.shape[1:])
