"""A day of traffic: read from a file, or drawn as one wave."""

from __future__ import annotations

import csv
import io
import math

from engine.errors import BadData

MOST_CHARACTERS = 10_000_000
COLUMN = "requests_per_s"


def day_wave(peak_per_s: float, low_fraction: float, peak_hour: float = 14.0, n_parts: int = 24) -> tuple[float, ...]:
    """Requests/s by part of a day: one cosine between low_fraction · peak and the peak, highest at peak_hour."""
    middle, swing = (1 + low_fraction) / 2, (1 - low_fraction) / 2
    hours = (part * 24 / n_parts for part in range(n_parts))
    return tuple(peak_per_s * (middle + swing * math.cos(2 * math.pi * (hour - peak_hour) / 24)) for hour in hours)


def read_day(text: str) -> tuple[float, ...]:
    """Requests/s by equal parts of a day: one number a line, or a CSV file with the column requests_per_s.

    Raises BadData naming the line.
    """
    if len(text) > MOST_CHARACTERS:
        raise BadData(f"a day of traffic has at most {MOST_CHARACTERS:,} characters, got {len(text):,}")
    try:
        rows = [row for row in csv.reader(io.StringIO(text.lstrip("\ufeff"))) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise BadData(f"the day of traffic is no CSV: {error}") from None
    if not rows:
        raise BadData("the day of traffic is empty; write one number of requests/s a line, 24 for a day of hours")
    names = [cell.strip().lower() for cell in rows[0]]
    if COLUMN in names:
        at, first = names.index(COLUMN), 1
    elif len(rows[0]) == 1:
        at, first = 0, 0
    else:
        raise BadData(f"the first line has no column {COLUMN}; it has {', '.join(names)[:200]}")
    found = tuple(_rate(row, at, number) for number, row in enumerate(rows[first:], start=first + 1))
    if not found:
        raise BadData(f"there is no line below the heading {COLUMN}")
    return found


def _rate(row: list[str], at: int, number: int) -> float:
    cell = row[at].strip() if at < len(row) else ""
    try:
        rate = float(cell)
    except ValueError:
        raise BadData(f"line {number}: {cell[:60]!r} is no number of requests/s") from None
    if not (math.isfinite(rate) and rate >= 0):
        raise BadData(f"line {number}: requests/s must be 0 or more, got {rate:g}")
    return rate
