"""Evaluation sets bound to a model."""

from __future__ import annotations

from pydantic import Field

from engine.records.base import Record
from engine.records.words import Role, SplitName, Task


class SliceInfo(Record):
    """One value of one slice column and its rows."""

    column: str
    value: str
    n_rows: int


class EvalSetInfo(Record):
    """An evaluation set bound to a model's inputs, split and stored. `id` is the digest of its content."""

    id: str
    n_rows: int = Field(description="Rows of the file, unlabelled ones included.")
    n_unlabelled: int = 0
    roles: dict[str, Role]
    task: Task
    classes: tuple[str, ...] | None = None
    splits: dict[SplitName, int] = Field(description="Rows per split.")
    slices: tuple[SliceInfo, ...] = ()
    reading: dict[str, str] = Field({}, description="How the file was read: encoding, separator, format.")
    notes: tuple[str, ...] = Field((), description="Casts done, rows left out, columns ignored.")
