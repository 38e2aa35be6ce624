"""Fill the inputs of the model from a batch of rows, exactly as it takes them."""

from __future__ import annotations

import numpy as np

from engine.data.casting import cast_column, category_codes
from engine.data.mapping import InputPlan, Plan
from engine.data.table import Batch, Table
from engine.data.tally import Tally


def fill_inputs(plan: Plan, table: Table, batch: Batch, tally: Tally) -> dict[str, np.ndarray]:
    """Input name -> (m, ...) for the rows of a batch, in signature order. Raises BadData or Mismatch with the row."""
    return {one.spec.name: _fill(one, table, batch, tally) for one in plan.inputs}


def _fill(one: InputPlan, table: Table, batch: Batch, tally: Tally) -> np.ndarray:
    lists = one.spec.categories or {}
    known = one.spec.columns or one.columns
    parts = []
    for name, told in zip(one.columns, one.columns if one.whole else known, strict=True):
        column, values = table.column(name), batch.columns[name]
        if told in lists:
            parts.append(category_codes(values, column, lists[told], tally).astype(one.spec.dtype))
        else:
            parts.append(cast_column(values, column, one.spec.dtype, batch.start, tally))
    filled = parts[0] if one.whole else np.column_stack(parts)
    rank = len(one.spec.shape)
    if rank == 1 and filled.ndim == 2:
        return filled[:, 0]
    return filled[:, None] if rank == 2 and filled.ndim == 1 else filled
