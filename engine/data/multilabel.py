"""Match several labels at once to the scores of the model: which of them belongs to which score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from engine.data.choices import DataChoices
from engine.data.label_table import MOST_LABELS, UNKNOWN, LabelTable, label_table
from engine.data.label_values import label_values
from engine.data.labels import UNLABELLED_TASKS, Labels, places, score_width, settle_labels
from engine.data.limits import names_text
from engine.data.roles import Named
from engine.data.table import Table
from engine.errors import BadData, Mismatch
from engine.records import Signature


def settle(table: Table, named: Named, signature: Signature, choices: DataChoices) -> Labels:
    """Task, classes and the label or labels of every row. Raises BadData or Mismatch with the values on both sides."""
    task = choices.task or signature.task
    several = len(named.labels) > 1
    if task is None and _says_several(table, named, choices):
        task = "multilabel"
    if task == "multilabel":
        if not named.labels:
            raise BadData(
                "no label column was found; a multilabel task needs a column of 0 and 1 per class (--label a,b,…), or "
                "one array or text that holds them all (--label COLUMN)"
            )
        found = label_table(table, named.labels, choices.label_separator)
        if choices.task is None and signature.task is None and not several:
            _refuse_one_of_each(found, named.labels[0])
        return _settle(found, named, signature, choices)
    if several and task in UNLABELLED_TASKS:
        return Labels(task, None, None, (f"Columns {names_text(named.labels)} are not used: {task} needs no label",))
    if several:
        raise Mismatch(
            f"{len(named.labels)} label columns are named ({names_text(named.labels)}), and a {task} task has one; "
            "choose the task multilabel (--task multilabel) where each says yes or no to one class"
        )
    return settle_labels(label_values(table, named.labels[0]) if named.labels else None, signature, choices)


def more_labels(table: Table, labels: Labels) -> tuple[np.ndarray, list[str]]:
    """Labels (n, k) of further rows in the terms of `labels`; where the columns are missing all are unlabelled."""
    assert labels.values is not None
    assert labels.classes is not None
    missing = [name for name in labels.sources if table.profile.column(name) is None]
    if len(missing) == len(labels.sources):
        empty = np.full((table.profile.n_rows, labels.values.shape[1]), UNKNOWN, labels.values.dtype)
        said = f"Training data without the label columns {names_text(missing)}: usable by levers that need no label"
        return empty, [said]
    if missing:
        raise Mismatch(f"the training data lack label columns: {names_text(missing)}")
    found = label_table(table, labels.sources, labels.separator)
    if labels.separator is not None and found.names:
        return _by_name(found, labels.classes, labels.sources[0]), []
    if found.values.shape[1] != labels.values.shape[1]:
        raise Mismatch(
            f"column {labels.sources[0]} of the training data holds {found.values.shape[1]} labels per row, the "
            f"evaluation set {labels.values.shape[1]}"
        )
    return found.values, []


def _says_several(table: Table, named: Named, choices: DataChoices) -> bool:
    if len(named.labels) > 1 or (named.labels and choices.label_separator is not None):
        return True
    return bool(named.labels) and table.column(named.labels[0]).kind == "array"


def _refuse_one_of_each(found: LabelTable, column: str) -> None:
    """An array of which every row has exactly one 1 may as well be one class per row: that is not for us to say."""
    if not found.names and np.all(found.values.sum(axis=1)[found.values[:, 0] >= 0] == 1):
        raise BadData(
            f"every row of {column} has exactly one 1: choose the task multilabel (--task multilabel) if rows may have "
            f"several labels, else save the number of the class ({column}.argmax(axis=1))"
        )


def _settle(found: LabelTable, named: Named, signature: Signature, choices: DataChoices) -> Labels:
    width = score_width(signature)
    asked = choices.classes or signature.classes
    if choices.classes is None and asked == tuple(map(str, range(len(asked or ())))):
        asked = None  # numbers are no names
    if not found.names:
        settled = _of_array(found, named.labels[0], asked)
    elif len(named.labels) == 1:
        settled = _of_texts(found, named.labels[0], asked, width, choices.label_separator)
    else:
        settled = _of_columns(found, asked, ordered=bool(choices.labels))
    assert settled.classes is not None
    assert settled.values is not None
    _check_count(settled.classes, named, width, signature.score_output)
    return replace(settled, notes=(*settled.notes, *_constant(settled.values, settled.classes)))


def _of_columns(found: LabelTable, asked: tuple[str, ...] | None, *, ordered: bool) -> Labels:
    if asked is not None:
        order = _order(found.names, asked)
        values = np.ascontiguousarray(found.values[:, order])
        return Labels("multilabel", asked, values, sources=tuple(found.names[at] for at in order))
    said = names_text(found.names, 30)
    note = f"Label columns in the order of the file, the first for the first score: {said}. Is it so?"
    return Labels("multilabel", found.names, found.values, () if ordered else (note,), sources=found.names)


def _of_array(found: LabelTable, column: str, asked: tuple[str, ...] | None) -> Labels:
    n_labels = found.values.shape[1]
    classes = asked or tuple(map(str, range(n_labels)))
    if len(classes) != n_labels:
        raise Mismatch(
            f"column {column} holds {n_labels} labels per row, {len(classes)} classes are named: "
            f"{names_text(classes, 30)}"
        )
    return Labels("multilabel", classes, found.values, sources=(column,))


def _of_texts(
    found: LabelTable, column: str, asked: tuple[str, ...] | None, width: int | None, separator: str | None
) -> Labels:
    counted = tuple(map(str, range(width or 0)))
    numbered = set(found.names) <= set(counted)
    classes = asked or (counted if numbered else found.names)
    note = f"Labels in sorted order, the first for the first score: {names_text(classes, 30)}. Is it so?"
    notes = (note,) if asked is None and not numbered else ()
    return Labels("multilabel", classes, _by_name(found, classes, column), notes, (column,), separator)


def _check_count(classes: tuple[str, ...], named: Named, width: int | None, output: str | None) -> None:
    if not 2 <= len(classes) <= MOST_LABELS:
        raise BadData(
            f"{names_text(named.labels)}: {len(classes)} labels; a multilabel task has 2 to {MOST_LABELS:,}. Is it a "
            "binary task (--task binary)?"
        )
    if len(set(classes)) != len(classes):
        raise Mismatch(f"the classes name a value twice: {names_text(classes, 30)}")
    if width is not None and width != len(classes):
        raise Mismatch(
            f"{len(classes)} labels ({names_text(classes)}), output {output} gives {width} "
            f"{'score' if width == 1 else 'scores'} per row; a multilabel task needs one label per score"
        )


def _order(columns: tuple[str, ...], classes: tuple[str, ...]) -> list[int]:
    """Position among the label columns of every class."""
    found = places(columns, classes)
    strange = [name for name, place in found.items() if place is None]
    if strange or len(columns) != len(classes) or len(set(found.values())) != len(classes):
        raise Mismatch(
            f"the label columns {names_text(columns, 30)} are not the classes {names_text(classes, 30)}; name the "
            "columns in the order of the scores, once as labels and once as classes (--label a,b,… --classes a,b,…)"
        )
    return sorted(range(len(columns)), key=lambda at: found[columns[at]] or 0)


def _by_name(found: LabelTable, classes: tuple[str, ...], column: str) -> np.ndarray:
    """(n, k) in the order of the classes; a class that no row has is 0 everywhere."""
    place = places(found.names, classes)
    unknown = [name for name, at in place.items() if at is None]
    if unknown:
        raise Mismatch(f"column {column} holds {names_text(unknown)}, not among the classes {names_text(classes, 30)}")
    values = np.where(found.values[:, :1] < 0, UNKNOWN, np.zeros((1, len(classes)), np.int8)).astype(np.int8)
    for at, name in enumerate(found.names):
        values[:, place[name]] = found.values[:, at]
    return values


def _constant(values: np.ndarray, classes: tuple[str, ...]) -> Iterator[str]:
    """Notes on labels that are the same in every row. Raises BadData when all of them are."""
    known = values[values[:, 0] >= 0]
    n_with = (known == 1).sum(axis=0)
    never = [name for name, n in zip(classes, n_with, strict=True) if n == 0]
    always = [name for name, n in zip(classes, n_with, strict=True) if n == len(known)]
    if len(never) + len(always) == len(classes):
        raise BadData(
            f"each of the labels {names_text(classes)} is the same in all {len(known):,} rows; to judge quality, some "
            "rows have to have a label and others not"
        )
    if never:
        yield f"No row of {len(known):,} has the label {names_text(never)}: whether it is kept cannot be judged"
    if always:
        yield f"All {len(known):,} rows have the label {names_text(always)}: it has no ROC AUC"
