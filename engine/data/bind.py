"""Bind a stored table to a model's inputs, in the confined child: map, check, split, write."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.data.choices import DataChoices
from engine.data.disk import writing
from engine.data.evalset_writer import SPLIT_NAMES, RowFacts, write_inputs, write_labels, write_rows
from engine.data.labels import Labels
from engine.data.mapping import Plan, confirmed_inputs, plan_inputs
from engine.data.multilabel import settle
from engine.data.output import propose_output
from engine.data.placement import Placement, Rows, arrange, with_calibration, with_train_rows
from engine.data.profile import ROW_NUMBER_NOTE, TableProfile
from engine.data.roles import Named, guess_roles, named_columns
from engine.data.slices import slice_column
from engine.data.survey import Surveyed, filled_batches, joint_shapes, survey_inputs
from engine.data.table import Table, open_table
from engine.data.tally import Tally
from engine.data.training_rows import Known, check_columns_exist, column_digests, refuse_leakage, training_labels
from engine.errors import BadData
from engine.records import EvalSetInfo, Role, Signature

if TYPE_CHECKING:
    from engine.sandbox import Talk


def bind(request: dict[str, Any], talk: Talk) -> dict[str, Any]:
    """Write an evaluation set into request["out"]; answers {"info": EvalSetInfo, "signature": confirmed Signature}.

    Request: table, train_table (or None), signature, choices, seed, out. The id of the info is empty: it is the digest
    of the folder. Raises BadData, Mismatch, NoSpace.
    """
    table, choices = open_table(Path(request["table"])), DataChoices.model_validate(request["choices"])
    more = open_table(Path(request["train_table"])) if request.get("train_table") else None
    out, seed = Path(request["out"]), int(request["seed"])
    signature = propose_output(Signature.model_validate(request["signature"]), None, choices)
    roles = guess_roles(table.profile, signature, choices=choices)
    named = named_columns(roles, choices, signature.task)
    plan = plan_inputs(table.profile, signature, roles, choices)
    labels = settle(table, named, signature, choices)
    _check_group(table, named, labels)
    tally = Tally()
    surveyed = survey_inputs(plan, table, tally, talk)
    known = Known(surveyed.digests, column_digests(table, named.group), column_digests(table, named.id))
    placement = arrange(_rows(table, named, labels, known), seed)
    notes = [*_read_notes(table.profile, roles), *plan.notes, *labels.notes, *tally.notes(), *placement.notes]
    values, shapes = labels.values, surveyed.shapes
    tables = [table]
    if more is not None:
        surveyed_more, values_more, said = _further_rows(more, plan, named, labels, known, placement, talk)
        placement = with_train_rows(placement, more.profile.n_rows)
        shapes = joint_shapes(shapes, surveyed_more.shapes)
        surveyed = Surveyed(shapes, np.concatenate([surveyed.digests, surveyed_more.digests]))
        values = None if values is None or values_more is None else np.concatenate([values, values_more])
        notes += [f"Training data: {more.profile.n_rows:,} rows for levers that learn", *said]
        tables.append(more)
    placement = with_calibration(placement, values, surveyed.digests, seed)
    with writing():
        write_inputs(out, shapes, placement, _all_batches(plan, tables, talk))
        write_labels(out, values, placement)
        facts = _facts(table, named, placement)
        write_rows(out, facts, placement)
        info = _info(table, roles, labels, placement, facts, notes)
        (out / "info.json").write_text(info.model_dump_json(indent=1))
    confirmed = confirmed_inputs(signature, plan).model_copy(update={"task": labels.task, "classes": labels.classes})
    return {"info": info.model_dump(mode="json"), "signature": confirmed.model_dump(mode="json")}


def _further_rows(
    more: Table, plan: Plan, named: Named, labels: Labels, known: Known, placement: Placement, talk: Talk
) -> tuple[Surveyed, np.ndarray | None, list[str]]:
    check_columns_exist(plan, more)
    surveyed = survey_inputs(plan, more, Tally(), talk)
    values, notes = training_labels(more, named, labels)
    return surveyed, values, notes + refuse_leakage(more, named, surveyed, known, placement)


def _all_batches(plan: Plan, tables: list[Table], talk: Talk) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """The rows of all tables, numbered through."""
    total = sum(table.profile.n_rows for table in tables)
    before = 0
    for table in tables:
        for start, values in filled_batches(plan, table, Tally()):
            yield before + start, values
            talk.send({"progress": 0.5 + 0.5 * (before + start) / total, "message": "writing the inputs"})
        before += table.profile.n_rows


def _rows(table: Table, named: Named, labels: Labels, known: Known) -> Rows:
    split = table.whole(named.split).combine_chunks() if named.split else None
    if split is not None and not pa.types.is_string(split.type):
        raise BadData(f"split column {named.split} holds {split.type}; it needs words such as train and certification")
    return Rows(known.digests, labels.values, known.groups, known.ids, split, named.split or "")


def _check_group(table: Table, named: Named, labels: Labels) -> None:
    if labels.task == "ranking" and named.group is None:
        raise BadData("a ranking task needs a group column that says which rows were ranked together (--group COLUMN)")
    if named.group is not None:
        empty = table.whole(named.group).combine_chunks().is_null(nan_is_null=True)
        n_empty = pc.sum(empty).as_py() or 0
        if n_empty:
            first = pc.index(empty, True).as_py() + 1
            raise BadData(f"group column {named.group} is empty in {n_empty:,} rows (first: row {first:,})")


def _facts(table: Table, named: Named, placement: Placement) -> RowFacts:
    columns: dict[str, pa.Array] = {}
    for name, column in (("id", named.id), ("group", named.group)):
        if column is not None:
            columns[name] = pc.cast(table.whole(column).combine_chunks(), pa.string())
    if named.weight is not None:
        columns["weight"] = _weights(table, named.weight)
    train = placement.rows("train")
    train = train[train < table.profile.n_rows]
    return RowFacts(columns, tuple(slice_column(table, name, train) for name in named.slices), table.profile.n_rows)


def _weights(table: Table, name: str) -> pa.Array:
    values = table.whole(name).combine_chunks()
    if not (pa.types.is_floating(values.type) or pa.types.is_integer(values.type)):
        raise BadData(f"weight column {name} holds {table.column(name).kind}; it needs numbers")
    values = pc.cast(values, pa.float64())
    fine = pc.fill_null(pc.and_(pc.is_finite(values), pc.greater_equal(values, 0.0)), False)
    bad = pc.index(fine, False).as_py()
    if bad >= 0:
        raise BadData(f"row {bad + 1:,}, weight column {name}: {values[bad].as_py()} is no weight; it needs 0 or more")
    return values


def _read_notes(profile: TableProfile, roles: dict[str, Role]) -> Iterator[str]:
    used = any(column.row_number and roles[column.name] != "ignored" for column in profile.columns)
    yield from (note for note in profile.notes if not (used and note == ROW_NUMBER_NOTE))


def _info(
    table: Table, roles: dict[str, Role], labels: Labels, placement: Placement, facts: RowFacts, notes: list[str]
) -> EvalSetInfo:
    labelled = labels.labelled
    n_unlabelled = 0 if labelled is None else int((~labelled).sum())
    if n_unlabelled:
        notes.append(f"{n_unlabelled:,} rows without label left out of quality; timing may still use them")
    splits = {split: len(placement.rows(split)) for split in SPLIT_NAMES}
    return EvalSetInfo(
        id="",
        n_rows=table.profile.n_rows,
        n_unlabelled=n_unlabelled,
        roles=roles,
        task=labels.task,
        classes=labels.classes,
        splits={split: n_rows for split, n_rows in splits.items() if n_rows},
        slices=tuple(chain.from_iterable(one.counts() for one in facts.slices)),
        reading=table.profile.reading,
        notes=tuple(notes),
    )
