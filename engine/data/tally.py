"""Counts what was done to the values on their way into the inputs, to be said once at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from engine.data.limits import names_text


class Tally:
    """Casts by column, missing values filled, categories the model does not know."""

    def __init__(self) -> None:
        self._casts: dict[tuple[str, str], dict[str, None]] = {}
        self._missing: Counter[tuple[str, str]] = Counter()
        self._words: Counter[tuple[str, str]] = Counter()
        self._unknown: Counter[str] = Counter()
        self._known: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def cast(self, column: str, given: str, taken: str) -> None:
        """A column was stored as one dtype and is given to the model as another."""
        self._casts.setdefault((given, taken), {})[column] = None

    def missing(self, column: str, n_cells: int, becomes: str) -> None:
        """Cells without a value, and what stands for them."""
        if n_cells:
            self._missing[column, becomes] += n_cells

    def word(self, column: str, word: str, n_cells: int) -> None:
        """Cells of a numeric column with a word such as NA."""
        self._words[column, word] += n_cells

    def categories(self, column: str, n_cells: int, unknown: dict[str, int]) -> None:
        """Filled cells of a categorical column, and how often values among them that the model does not know."""
        self._known[column] += n_cells
        if unknown:
            self._unknown[column] += sum(unknown.values())
            self._examples.setdefault(column, next(iter(unknown)))

    def notes(self) -> Iterator[str]:
        """One sentence per thing done."""
        for (given, taken), columns in self._casts.items():
            yield f"Cast {given} to {taken}: {names_text(list(columns))}"
        for (column, word), n_cells in self._words.items():
            yield f"Column {column}: {n_cells:,} cells {word!r} taken as missing"
        by_meaning: dict[str, list[str]] = {}
        for (column, becomes), n_cells in self._missing.items():
            by_meaning.setdefault(becomes, []).append(f"{column} {n_cells:,}")
        for becomes, counted in by_meaning.items():
            yield f"Missing values given as {becomes}: {names_text(counted)}"
        for column, n_unknown in self._unknown.items():
            yield (
                f"Column {column}: {n_unknown:,} of {self._known[column]:,} values are not among the model's "
                f"categories (for example {self._examples[column][:40]!r}) and are taken as missing"
            )
