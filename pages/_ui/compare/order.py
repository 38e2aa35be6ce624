"""Which variants the table shows and in which order: the baseline first under any sort, missing values last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pages._ui.compare.column import Column, Value
from pages._ui.compare.variants import Variant

ASKED = "created_at"  # the column that sorts in the order of asking


class Filters(NamedTuple):
    """What is looked for. text: words that must all stand somewhere in the row; runs: only these; empty: everything."""

    text: str = ""
    statuses: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    archived: bool = False


def ordered(variants: Sequence[Variant], column: Column | None, *, descending: bool = False) -> list[Variant]:
    """The baseline, then the others by the column (None: as they were asked for); equal ones stay in that order."""
    first = [one for one in variants if one.is_baseline]
    rest = [one for one in variants if not one.is_baseline]
    if column is None or column.key == ASKED:
        return first + (rest[::-1] if descending else rest)
    keyed = [(column.value(one), one) for one in rest]
    known = [pair for pair in keyed if pair[0] is not None]
    known.sort(key=lambda pair: _key(pair[0]), reverse=descending)
    return first + [one for _, one in known] + [one for value, one in keyed if value is None]


def filtered(variants: Sequence[Variant], wanted: Filters) -> list[Variant]:
    """The baseline and those that every filter lets through."""
    words, runs = wanted.text.lower().split(), set(wanted.runs)
    return [
        one
        for one in variants
        if one.is_baseline
        or (
            (wanted.archived or not one.archived or one.id in runs)
            and (not runs or one.id in runs)
            and (not wanted.statuses or one.row.status in wanted.statuses)
            and (not wanted.outcomes or one.outcome in wanted.outcomes)
            and (not words or _holds(one, words))
        )
    ]


def differing(columns: Sequence[Column], variants: Sequence[Variant]) -> list[Column]:
    """The columns in which the shown rows are not all the same as written; parameters are compared among variants."""
    return [column for column in columns if _differs(column, variants)]


def _differs(column: Column, variants: Sequence[Variant]) -> bool:
    rows = variants if column.kind == "figure" else [one for one in variants if not one.is_baseline]
    if len(rows) < 2:
        return True
    first = column.written(rows[0])
    return any(column.written(one) != first for one in rows)


def _holds(one: Variant, words: Sequence[str]) -> bool:
    noted = (*one.note.tags, one.note.note) if one.note else ()
    hay = " ".join((one.name, one.outcome, one.row.reason or "", one.run.created_by, one.id, *noted)).lower()
    return all(word in hay for word in words)


def _key(value: Value) -> tuple[bool, float, str]:
    """Numbers before text."""
    return (True, 0.0, value.casefold()) if isinstance(value, str) else (False, value or 0.0, "")
