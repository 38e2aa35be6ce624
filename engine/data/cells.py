"""Decide what the text cells of a CSV column are, and turn them into numbers without losing a value.

A column is numeric when every cell that is neither empty nor a missing word ("NaN", "NA", "null", "None", "N/A") reads
as a number, and at least one does. In every other column those words are plain text, and only an empty cell is missing.
Columns whose whole numbers start with a zero (post codes) or have more than 18 digits stay text.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from engine.data.profile import ColumnKind

MISSING_WORDS = frozenset({"nan", "na", "n/a", "<na>", "null", "none"})
NUMBER = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)$"
_WHOLE = r"^[+-]?\d{1,18}$"
_LONG = r"^[+-]?\d{19,}$"
_LEADING_ZERO = r"^[+-]?0\d+$"
_COMMA = r"^[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?$"
_THOUSANDS = r"^[+-]?[1-9]\d{0,2}(,\d{3})+$"
_TRUTHS = ({"True", "False"}, {"true", "false"}, {"TRUE", "FALSE"})


@dataclass
class Survey:
    """Counts over the cells of one column, batch by batch."""

    commas: bool  # may a comma be the decimal mark? Not where it separates the cells
    n_filled: int = 0
    n_words: int = 0
    n_whole: int = 0
    n_number: int = 0
    n_comma: int = 0
    n_long: int = 0
    n_leading_zero: int = 0
    comma_proven: bool = False
    words: set[str] = field(default_factory=set)
    truths: set[str] | None = field(default_factory=set)  # None: more than true and false was seen

    def add(self, cells: pa.StringArray) -> None:
        """Count the cells of one batch; stops as soon as the column can only be text."""
        trimmed = pc.utf8_trim_whitespace(cells)
        filled = trimmed.filter(pc.not_equal(trimmed, ""))
        if not len(filled) or self.certainly_text:
            return
        self.n_filled += len(filled)
        self._add_truths(filled)
        word = pc.is_in(pc.utf8_lower(filled), value_set=pa.array(sorted(MISSING_WORDS)))
        self.n_words += _count(word)
        if len(self.words) < 5 and _count(word):
            self.words |= set(filled.filter(word).unique().to_pylist()[:5])
        self.n_whole += _matches(filled, _WHOLE)
        self.n_number += _matches(filled, NUMBER)
        self.n_leading_zero += _matches(filled, _LEADING_ZERO)
        self.n_long += _matches(filled, _LONG)
        if self.commas:
            self._add_commas(filled)

    def _add_truths(self, filled: pa.StringArray) -> None:
        if self.truths is not None:
            seen = filled.unique()
            both = self.truths | set(seen.to_pylist()) if len(seen) <= 2 else None
            self.truths = both if both and any(both <= pair for pair in _TRUTHS) else None

    def _add_commas(self, filled: pa.StringArray) -> None:
        fits = pc.match_substring_regex(filled, _COMMA)
        self.n_comma += _count(fits)
        with_comma = filled.filter(pc.and_(fits, pc.match_substring(filled, ",")))
        self.comma_proven = self.comma_proven or _matches(with_comma, _THOUSANDS) < len(with_comma)

    @property
    def certainly_text(self) -> bool:
        """No number, no missing word and no true/false can explain what was seen."""
        numeric = self.n_filled == self.n_words + max(self.n_number, self.n_comma)
        return self.n_filled > 0 and not numeric and not self.truths

    def kind(self, decimal: str) -> ColumnKind:
        """What the column is, given the decimal mark of the file."""
        n_values = self.n_filled - self.n_words
        n_number = max(self.n_number, self.n_comma) if decimal == "," else self.n_number
        if self.truths:
            return "true/false"
        if self.n_filled == 0:
            return "number"
        if n_values == 0 or n_number < n_values:
            return "text"
        if self.n_whole + self.n_long == n_values:
            return "text" if self.n_leading_zero or self.n_long else "whole number"
        return "number"

    @property
    def needs_comma(self) -> bool:
        """Numbers only when the comma is read as the decimal mark."""
        return self.n_comma == self.n_filled - self.n_words > self.n_number

    @property
    def other_words(self) -> set[str]:
        """Missing words other than NaN, as they stand in the file."""
        return {word for word in self.words if word.lower() != "nan"}


def to_numbers(cells: pa.Array, kind: ColumnKind, decimal: str) -> pa.Array:
    """Text cells of a numeric column as int64 or float64; empty cells and missing words become null."""
    trimmed = pc.utf8_trim_whitespace(cells)
    missing = pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(["", *sorted(MISSING_WORDS)]))
    values = pc.if_else(missing, None, trimmed)
    if decimal == ",":
        values = pc.replace_substring(values, ",", ".", max_replacements=1)
    if kind == "whole number":
        return pc.cast(pc.replace_substring_regex(values, r"^\+", ""), pa.int64())
    return pc.cast(values, pa.float64())


def _matches(cells: pa.Array, pattern: str) -> int:
    return _count(pc.match_substring_regex(cells, pattern))


def _count(flags: pa.Array) -> int:
    return int(pc.sum(flags).as_py() or 0)
