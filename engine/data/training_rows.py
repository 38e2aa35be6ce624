"""Further rows for levers that learn, from a second file; refused where they overlap what is judged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.data.canonical import text_digests
from engine.data.label_values import label_values
from engine.data.labels import Labels, encode_more
from engine.data.limits import names_text
from engine.data.mapping import Plan
from engine.data.multilabel import more_labels
from engine.data.placement import Placement, among
from engine.data.roles import Named
from engine.data.splits import CODES, EVALUATED
from engine.data.statistics import cell_text
from engine.data.survey import Surveyed
from engine.data.table import Table
from engine.errors import BadData, Mismatch


@dataclass(frozen=True)
class Known:
    """(n, 2) uint64 digests of the evaluation file: of the inputs, and of groups and ids where such columns exist."""

    digests: np.ndarray
    groups: np.ndarray | None
    ids: np.ndarray | None


def column_digests(table: Table, name: str | None) -> np.ndarray | None:
    """(n, 2) uint64 digest of each cell of a column as text; None without a column. An empty cell equals no other."""
    if name is None:
        return None
    values = table.whole(name).combine_chunks()
    encoded = values.dictionary_encode()
    known = text_digests([cell_text(value) for value in encoded.dictionary.to_pylist()])
    found = np.stack([np.arange(len(values), dtype=np.uint64), np.zeros(len(values), np.uint64)], axis=1)
    filled = np.asarray(values.is_valid())
    found[filled] = known[np.asarray(encoded.indices.drop_null())]
    return found


def check_columns_exist(plan: Plan, table: Table) -> None:
    """Refuse training data that lack a column of some input."""
    missing = [name for name in plan.columns if table.profile.column(name) is None]
    if missing:
        raise Mismatch(f"the training data lack columns of the model's inputs: {names_text(missing)}")


def training_labels(table: Table, named: Named, labels: Labels) -> tuple[np.ndarray | None, list[str]]:
    """Labels of the further rows in the terms of the evaluation set; without a label column all are unlabelled."""
    if labels.values is None:
        return None, []
    if labels.values.ndim == 2:
        return more_labels(table, labels)
    if named.label is None or table.profile.column(named.label) is None:
        empty = -1 if labels.values.dtype.kind == "i" else np.nan
        said = f"Training data without the label column {named.label}: usable by levers that need no label"
        return np.full(table.profile.n_rows, empty, labels.values.dtype), [said]
    return encode_more(label_values(table, named.label), labels), []


def refuse_leakage(table: Table, named: Named, more: Surveyed, known: Known, placement: Placement) -> list[str]:
    """Raise BadData when further rows equal evaluation rows or share a group; return what could not be checked."""
    judged = np.isin(placement.codes, [CODES[name] for name in EVALUATED])
    notes: list[str] = []
    if not placement.identity.by_row:
        _refuse(among(more.digests, known.digests[judged]), "have the same inputs as evaluation rows")
    elif known.ids is not None and table.profile.column(str(named.id)) is not None:
        ids = column_digests(table, named.id)
        assert ids is not None
        _refuse(among(ids, known.ids[judged]), "have the id of an evaluation row")
    else:
        notes.append(
            "Training data: inputs repeat too often and there is no id column, so overlap could not be checked"
        )
    if known.groups is not None and table.profile.column(str(named.group)) is not None:
        groups = column_digests(table, named.group)
        assert groups is not None
        _refuse(among(groups, known.groups[judged]), "belong to a group of the evaluation rows")
    return notes


def _refuse(shared: np.ndarray, what: str) -> None:
    if shared.any():
        raise BadData(
            f"leakage: {int(shared.sum()):,} of {len(shared):,} training rows {what} "
            f"(first: row {int(shared.argmax()) + 1:,}); take them out of the training data"
        )
