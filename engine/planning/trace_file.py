"""Read what was timed: CSV or JSON with a row per request, or OpenTelemetry spans."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.errors import BadData
from engine.planning.spans import read_spans
from engine.planning.stages import Trace, trace

MOST_CHARACTERS = 200_000_000
TOTAL = ("total", "total_ms")


def read_trace(text: str) -> Trace:
    """A trace file as text, recognised by its content; times in milliseconds.

    CSV: one column per stage and, where it was timed, one called total. JSON: a list of objects with the same names,
    one object for one request, or OTLP JSON (a document, or one a line). Raises BadData with what is wrong and where.
    """
    if len(text) > MOST_CHARACTERS:
        raise BadData(f"a trace has at most {MOST_CHARACTERS:,} characters, got {len(text):,}")
    text = text.lstrip("\ufeff").strip()
    if not text:
        raise BadData("the trace is empty")
    if text[0] not in "[{":
        return _csv(text)
    document = _json(text)
    first = document[0] if isinstance(document, list) and document else document
    if isinstance(first, Mapping) and "resourceSpans" in first:
        return read_spans(document if isinstance(document, list) else [document])
    return _rows(document if isinstance(document, list) else [document])


def _json(text: str) -> Any:
    """One document, or a list of those that stand one a line."""
    try:
        return json.loads(text)
    except RecursionError:
        raise BadData("the JSON is nested too deeply for a trace") from None
    except json.JSONDecodeError as error:
        if "Extra data" not in error.msg:
            raise BadData(f"the trace is no JSON: {error.msg} in line {error.lineno}") from None
    except ValueError:
        raise BadData("the trace has a number of too many digits") from None
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            found += [json.loads(line)] if line.strip() else []
        except (ValueError, RecursionError):
            raise BadData(f"line {number} of the trace is no JSON document") from None
    return found


def _csv(text: str) -> Trace:
    try:
        rows = list(csv.reader(io.StringIO(text), strict=True))
    except csv.Error as error:
        raise BadData(f"the trace is no CSV: {error}") from None
    heads = [name.strip() for name in rows[0]]
    body = [row for row in rows[1:] if any(cell.strip() for cell in row)]
    if not body:
        raise BadData("the trace has a heading and no request below it")
    for number, row in enumerate(body, 1):
        if len(row) != len(heads):
            raise BadData(f"request {number}: {len(row)} values below {len(heads)} headings")
    return _columns(heads, body)


def _rows(rows: Sequence[Any]) -> Trace:
    if not rows or not all(isinstance(row, Mapping) and row for row in rows):
        raise BadData("a JSON trace is a list of objects: the name of a stage and its milliseconds")
    heads = list(rows[0])
    for number, row in enumerate(rows, 1):
        if set(row) != set(heads):
            raise BadData(f"request {number} has other stages than the first: {', '.join(map(str, row))[:200]}")
    return _columns([str(head) for head in heads], [[row[head] for head in heads] for row in rows])


def _columns(heads: list[str], rows: list[list[Any]]) -> Trace:
    totals = [k for k, head in enumerate(heads) if head.lower() in TOTAL]
    if len(totals) > 1:
        raise BadData("the trace has two columns called total")
    kept = [k for k in range(len(heads)) if k not in totals]
    values = _numbers(heads, rows)
    names = tuple(heads[k].removesuffix("_ms") for k in kept)
    return trace(names, values[:, kept], values[:, totals[0]] if totals else None)


def _numbers(heads: list[str], rows: list[list[Any]]) -> np.ndarray:
    """(n, k) float64. Raises BadData naming the first value that is no number."""
    try:
        values = np.array(rows, dtype=np.float64)
        if values.ndim == 2:
            return values
    except (TypeError, ValueError, OverflowError):
        pass  # said below, with its place
    for number, row in enumerate(rows, 1):
        for head, cell in zip(heads, row, strict=True):
            try:
                float(cell)
            except (TypeError, ValueError, OverflowError):
                raise BadData(f"request {number}: {head} = {str(cell)[:60]!r} is no number of ms") from None
    raise BadData("the trace holds values that are no numbers")
