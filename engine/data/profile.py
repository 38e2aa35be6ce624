"""What a data file holds, column by column: the record that pages and the command line show."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engine.records import Record

ColumnKind = Literal["whole number", "number", "text", "true/false", "time", "array"]
DataFormat = Literal["csv", "parquet", "arrow", "npz"]
ROW_NUMBER_NOTE = "First column looks like a row number, ignored"


class ColumnProfile(Record):
    """One column of a data file."""

    name: str
    position: int = Field(description="In the file, from 0; names the stored column.")
    kind: ColumnKind
    dtype: str = Field(description="numpy name of the stored values, or 'string'.")
    n_missing: int = 0
    n_unique: int | None = Field(None, description="Distinct values; None: more than 1,000, or not counted.")
    examples: tuple[str, ...] = ()
    shape: tuple[int, ...] = Field((), description="Of one row; () for plain columns.")
    row_number: bool = Field(False, description="Counts the rows, and no person gave it a name.")


class TableProfile(Record):
    """One data file, read once. `head` holds the first rows as text, a missing value as ''."""

    format: DataFormat
    n_rows: int
    columns: tuple[ColumnProfile, ...]
    reading: dict[str, str] = Field({}, description="format, and for CSV encoding, separator and decimal mark.")
    notes: tuple[str, ...] = ()
    head: tuple[tuple[str, ...], ...] = ()

    def column(self, name: str) -> ColumnProfile | None:
        """The column of that name, or None."""
        return next((column for column in self.columns if column.name == name), None)

    @property
    def names(self) -> list[str]:
        """Column names in the order of the file."""
        return [column.name for column in self.columns]
