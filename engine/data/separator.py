"""Find the separator of a text table: the one that cuts the first lines into equally many cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice

from engine.data.limits import MAX_CELL_BYTES
from engine.errors import BadData

SEPARATORS = (",", ";", "\t", "|")
SPOKEN = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
SNIFF_LINES = 100


def sniff_separator(sample: str) -> str:
    """The separator of a table whose text starts with `sample`. Raises BadData when there is only one column."""
    best: tuple[float, int] = (0.0, 1)
    found = None
    for separator in SEPARATORS:
        widths = _widths(sample, separator)
        if not widths or widths[0] < 2:
            continue
        score = (sum(width == widths[0] for width in widths) / len(widths), widths[0])
        if score > best:
            best, found = score, separator
    if found is None:
        first = sample.splitlines()[0][:60] if sample.splitlines() else ""
        raise BadData(
            f"only one column was found ({first!r}; separators tried: comma, semicolon, tab, bar). An evaluation set "
            "needs at least one input and, as a rule, a label; name the separator if it is another one"
        )
    return found


def check_separator(text: str) -> str:
    """A separator as a person writes it (such as tab or ';') as one character. Raises BadData."""
    spoken = {name: mark for mark, name in SPOKEN.items()} | {"\\t": "\t"}
    mark = spoken.get(text.lower(), text)
    if len(mark) != 1 or not mark.isascii() or mark.isalnum() or mark in '"\r\n\\':
        raise BadData(f"{text!r} cannot be a separator; it is one character such as ',' ';' '|' or tab")
    return mark


def header_of(sample: str, separator: str) -> list[str]:
    """The cells of the first line, stripped; a cell without a name becomes '' ."""
    rows = _rows(sample, separator)
    return [cell.strip() for cell in next(rows, [])]


def _widths(sample: str, separator: str) -> list[int]:
    try:
        return [len(row) for row in islice(_rows(sample, separator), SNIFF_LINES) if row]
    except csv.Error:  # a cell beyond the limit: not the separator, or an open quote
        return []


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    csv.field_size_limit(MAX_CELL_BYTES)
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)
