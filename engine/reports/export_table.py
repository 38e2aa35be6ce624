"""A table as CSV, Excel, Markdown, JSON or plain text. Numbers stay numbers, text stays text, missing stays empty.

A text cell that a spreadsheet would run as a formula is disarmed: CSV gets a leading apostrophe (OWASP, "CSV
injection"), Excel gets a cell of type string.
"""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from engine.records import Record
from engine.reports import numbers
from engine.reports.rows import COLUMNS, CompareRow

Row = Record | Mapping[str, Any]
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
EXCEL_CELL = 32_767  # characters
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def to_csv(rows: Sequence[Row], columns: Sequence[str] = COLUMNS) -> bytes:
    """UTF-8 with a header line; numbers with all their digits. columns: the header where there is no row."""
    columns, table = _table(rows, columns)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([_disarmed(name) for name in columns])
    writer.writerows([[_csv_cell(row.get(name)) for name in columns] for row in table])
    return file.getvalue().encode()


def to_json(rows: Sequence[Row]) -> bytes:
    """A list of objects, one per row, every column in each; missing is null."""
    columns, table = _table(rows)
    listed = [{name: row.get(name) for name in columns} for row in table]
    return (json.dumps(listed, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def to_xlsx(rows: Sequence[Row], places: Mapping[str, int] | None = None) -> bytes:
    """One sheet with a frozen, filtered header. places: column -> decimals that its numbers are shown with."""
    import xlsxwriter

    columns, table = _table(rows)
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    sheet = book.add_worksheet("Compare")
    bold = book.add_format({"bold": True})
    known = {
        decimals: book.add_format({"num_format": _excel_format(decimals)}) for decimals in set((places or {}).values())
    }
    for at, name in enumerate(columns):
        sheet.write_string(0, at, name, bold)
        look = known.get((places or {}).get(name, -1))
        for down, row in enumerate(table, start=1):
            _excel_cell(sheet, down, at, row.get(name), look)
        widest = max([len(name), *(len(str(row.get(name) or "")) for row in table)])
        sheet.set_column(at, at, min(60, widest + 2))
    sheet.freeze_panes(1, 0)
    sheet.autofilter(0, 0, len(table), max(0, len(columns) - 1))
    book.close()
    return file.getvalue()


def to_markdown(rows: Sequence[Row], places: Mapping[str, int] | None = None) -> bytes:
    """A GitHub table; numbers with four figures, or with the decimals that `places` gives for a column."""
    columns, table = _table(rows)
    right = {name for name in columns if any(_is_number(row.get(name)) for row in table)}
    lines = [
        [_markdown(name) for name in columns],
        ["---:" if name in right else "---" for name in columns],
        *([_markdown_cell(row.get(name), (places or {}).get(name)) for name in columns] for row in table),
    ]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines).encode()


def to_text(rows: Sequence[CompareRow]) -> bytes:
    """The main columns for a terminal, written as on the pages."""
    lines = [["experiment", "recipe", "runtime", "status", "p50", "speed-up", "size", "quality", "change", "reason"]]
    lines += [[_printable(cell) for cell in _terminal(row)] for row in rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines)
    return ("\n".join(padded) + "\n").encode()


def _terminal(row: CompareRow) -> list[str]:
    speed = numbers.times(row.speedup)
    if row.speedup_low is not None and row.speedup_high is not None:
        speed += f" ({numbers.between(f'{row.speedup_low:.2f}', f'{row.speedup_high:.2f}')}), {row.speed_verdict}"
    change = numbers.quality_change(row.metric_drop, row.metric, relative=False)
    return [
        row.experiment,
        row.recipe,
        row.runtime,
        row.status,
        numbers.latency(row.p50_ms),
        speed,
        numbers.size(row.size_bytes),
        numbers.quality(row.metric_value, row.metric),
        numbers.MISSING if row.is_baseline else change,
        row.reason or "",
    ]


def _table(rows: Sequence[Row], empty: Sequence[str] = COLUMNS) -> tuple[list[str], list[Mapping[str, Any]]]:
    table = [row.model_dump(mode="json") if isinstance(row, Record) else row for row in rows]
    return (list(table[0]) if table else list(empty)), table


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _disarmed(text: str) -> str:
    safe = "'" + text if text.startswith(FORMULA_STARTS) else text
    return safe.replace("\r\n", "\n").replace("\r", "\n")  # a bare CR is not quoted and would end the row


def _csv_cell(value: object) -> object:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return value if _is_number(value) else _disarmed(str(value))


def _excel_format(decimals: int) -> str:
    return "#,##0" + ("." + "0" * decimals if decimals else "")


def _excel_cell(sheet: Any, row: int, column: int, value: object, look: Any = None) -> None:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return
    if _is_number(value):
        sheet.write_number(row, column, value, look)
    else:
        sheet.write_string(row, column, str(value)[:EXCEL_CELL])


def _markdown_cell(value: object, decimals: int | None = None) -> str:
    if value is None:
        return ""
    if decimals is not None and _is_number(value):
        return f"{round(value, decimals) + 0.0:.{decimals}f}"  # + 0.0: no sign before a zero
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return f"{value + 0.0:.4g}" if isinstance(value, float) else _markdown(str(value))


def _markdown(text: str) -> str:
    one_line = html.escape(" ".join(_printable(text).split()), quote=False)
    return re.sub(r"([\\`*\[\]|~$])", r"\\\1", one_line)


def _printable(text: str) -> str:
    return CONTROL.sub(" ", text)
