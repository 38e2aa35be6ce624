"""Is anything that a lever may have learnt from among the certification rows? Then no certificate means anything.

Rows are the same when their canonical inputs are, or their ids; rows of one group belong together. Where inputs repeat
so often that the data room told rows apart otherwise, only ids and groups count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from engine.data.canonical import row_digests, text_digests
from engine.data.placement import among
from engine.data.splits import identify
from engine.data.stored import load_info, load_rows, load_split
from engine.errors import BadData
from engine.records import SplitName

LEARNT_FROM: tuple[SplitName, ...] = ("train", "calibration")
TOLD_APART = "rows are told apart by their"  # how the data room notes that equal inputs are no leakage here
BLOCK_ROWS = 50_000


@dataclass(frozen=True)
class Marks:
    """What makes the rows of a split the same as others: (n, 2) uint64 digests, None where there is no such column."""

    inputs: np.ndarray
    ids: np.ndarray | None
    groups: np.ndarray | None


def marks(evalset: Path, split: SplitName) -> Marks:
    """Read the rows of a split, a block at a time."""
    inputs, rows = load_split(evalset, split).inputs, load_rows(evalset, split)
    parts = [
        row_digests({name: np.asarray(values[start : start + BLOCK_ROWS]) for name, values in inputs.items()})
        for start in range(0, len(rows), BLOCK_ROWS)
    ]
    digests = np.concatenate(parts) if parts else np.zeros((0, 2), np.uint64)
    return Marks(digests, _column(rows, "id"), _column(rows, "group"))


def check_leakage(evalset: Path) -> tuple[Marks, tuple[str, ...]]:
    """The certification rows' marks, and notes for the certificate. Raises BadData when rows or groups are shared."""
    judged = marks(evalset, "certification")
    chosen = marks(evalset, "selection")
    learnt = {split: marks(evalset, split) for split in LEARNT_FROM}
    everything = np.concatenate([judged.inputs, chosen.inputs, learnt["train"].inputs])
    by_row = any(TOLD_APART in note for note in load_info(evalset).notes)
    by_row = by_row or (len(everything) > 0 and identify(everything, None, None).by_row)
    notes = []
    if judged.ids is not None and len(_distinct(judged.ids)) < len(judged.ids):
        judged = replace(judged, ids=None)
        notes.append("the id column repeats within the certification rows, so it tells no rows apart")
    if by_row:
        notes.append(_repeats(everything, judged.ids is not None))
    for split, one in learnt.items():
        for what, shared in _shared(judged, one, by_row):
            if shared.any():
                raise BadData(
                    f"leakage: {int(shared.sum()):,} of {len(shared):,} certification rows {what} {split} rows (first: "
                    f"row {int(shared.argmax()) + 1:,} of the split), so nothing can be certified; take them out of "
                    "the training data or of the certification rows and make a new study"
                )
    for what, shared in _shared(judged, chosen, by_row):
        if shared.any():
            notes.append(
                f"{int(shared.sum()):,} of {len(shared):,} certification rows {what} selection rows, on which variants "
                "were compared"
            )
    return judged, tuple(notes)


def _shared(ours: Marks, theirs: Marks, by_row: bool) -> list[tuple[str, np.ndarray]]:
    found = []
    if not by_row:
        found.append(("have the same inputs as", among(ours.inputs, theirs.inputs)))
    if ours.ids is not None and theirs.ids is not None:
        found.append(("have the ids of", among(ours.ids, theirs.ids)))
    if ours.groups is not None and theirs.groups is not None:
        found.append(("belong to the groups of", among(ours.groups, theirs.groups)))
    return found


def _column(rows: pd.DataFrame, name: str) -> np.ndarray | None:
    """Digests of a column; an empty cell equals no other, because its digest holds the row's own number."""
    if name not in rows:
        return None
    texts = rows[name]
    filled = texts.notna().to_numpy()
    digests = np.stack([rows["row"].to_numpy(np.uint64), np.zeros(len(rows), np.uint64)], axis=1)
    if filled.any():
        digests[filled] = text_digests(texts[filled].astype(str).tolist())
    return digests


def _distinct(digests: np.ndarray) -> np.ndarray:
    return np.unique(np.ascontiguousarray(digests).view("u8,u8"))


def _repeats(digests: np.ndarray, has_ids: bool) -> str:
    distinct = len(_distinct(digests))
    told = "only equal ids and groups count as leakage" if has_ids else "only shared groups count as leakage"
    return f"{1 - distinct / len(digests):.0%} of the rows repeat another row's inputs: {told}"
