"""What the table shows as plain records: the same rows, order, columns and units; numbers keep all their digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.reports import export_table
from engine.reports.rows import CompareRow
from pages._ui.compare.column import Column, Value
from pages._ui.compare.variants import Variant
from pages._ui.words import CERTIFIED, with_times_sign

Plain = dict[str, Value]
Places = dict[str, int]
MIME = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "md": "text/markdown",
    "json": "application/json",
}


def as_shown(
    columns: Sequence[Column], variants: Sequence[Variant], *, intervals: bool = False
) -> tuple[list[Plain], Places]:
    """One record per variant: every line of a cell is a column of its own, its unit in the head.

    Also the decimals with which the screen writes each column of numbers.
    """
    certified = any(one.certificate is not None for one in variants)
    reasoned = any(one.row.reason for one in variants)
    parts = [part for column in columns for part in _parts(column, intervals)]
    records = []
    for one in variants:
        record: Plain = {"Variant": one.name, "Result": one.outcome}
        if certified:
            record["Certificate"] = _certificate(one)
        if reasoned:
            record["Reason"] = with_times_sign(one.row.reason) if one.row.reason else None
        records.append(record | {head: read(one) for head, read, _ in parts})
    return records, {head: places for head, _, places in parts if places is not None}


def turned(records: Sequence[Plain]) -> list[Plain]:
    """The same side by side: one record per figure, one column per variant."""
    heads = [head for head in (records[0] if records else {}) if head != "Variant"]
    return [{"Figure": head, **{str(record["Variant"]): record[head] for record in records}} for head in heads]


def write(ending: str, records: Sequence[Plain], places: Places) -> bytes:
    """The records as a file of that kind. The screen's decimals are how Excel and Markdown write the numbers."""
    if ending == "csv":
        return export_table.to_csv(records)
    if ending == "json":
        return export_table.to_json(records)
    return {"xlsx": export_table.to_xlsx, "md": export_table.to_markdown}[ending](records, places)


def write_every_column(ending: str, variants: Sequence[Variant]) -> bytes:
    """The same rows with every column that `compare` on the command line writes, under its names."""
    rows: list[CompareRow] = [one.row for one in variants]
    writers: dict[str, Callable[[Sequence[Any]], bytes]] = {
        "csv": export_table.to_csv,
        "xlsx": export_table.to_xlsx,
        "md": export_table.to_markdown,
        "json": export_table.to_json,
    }
    return writers[ending](rows)


Part = tuple[str, Callable[[Variant], Value], int | None]


def _parts(column: Column, intervals: bool) -> list[Part]:
    places = column.places
    found: list[Part] = [(_head(column.title, column.unit), column.value, places)]
    if column.bounds is not None and (intervals or column.always_bounds):
        same = column.bounds_unit == column.unit
        for at, name in enumerate(column.bounds_names):
            if name:
                head = _head(f"{column.title} {name}", column.bounds_unit)
                found.append((head, _bound(column, at), places if same else column.change_places))
    if column.moved is not None:
        found.append((_head(f"{column.title} change", column.change_unit), _moved(column, 0), column.change_places))
        found.append((f"{column.title} change is", _moved(column, 1), None))
    return found


def _head(title: str, unit: str) -> str:
    return f"{title}, {unit}" if unit else title


def _bound(column: Column, at: int) -> Callable[[Variant], Value]:
    assert column.bounds is not None
    read = column.bounds
    return lambda one: read(one)[at]


def _moved(column: Column, at: int) -> Callable[[Variant], Value]:
    """A change of what has a value; where nothing was measured there is nothing to say."""
    assert column.moved is not None
    read = column.moved
    return lambda one: None if column.value(one) is None else read(one)[at]


def _certificate(one: Variant) -> Value:
    if one.certificate is None:
        return None
    _, word, label = CERTIFIED[one.certificate.quality.verdict]
    return label or word
