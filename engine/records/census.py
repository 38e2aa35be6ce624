"""How many rows each part of an evaluation set has: counted once, before anything is promised about it."""

from __future__ import annotations

from pydantic import Field

from engine.records.base import Record
from engine.records.words import SplitName


class PartRows(Record):
    """All rows, the rows of one true class, or the rows with one value in a slice column."""

    column: str | None = Field(None, description="Slice column, or 'true class'; None: all rows.")
    value: str = ""
    rows: dict[SplitName, int] = Field({}, description="Rows per split; of a class: labelled so.")
    n_judged: int = Field(0, description="Certification rows that a verdict rests on; of a ranking: queries.")
    n_groups: int | None = Field(None, description="Groups among them, where a group column makes rows dependent.")
    n_rarer: int | None = Field(None, description="Of two classes: those of the rarer one.")


class Census(Record):
    """An evaluation set, counted."""

    whole: PartRows
    classes: tuple[PartRows, ...] = ()
    slices: tuple[PartRows, ...] = ()
