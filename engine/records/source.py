"""What a study was made from."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from engine.records.base import Record


class StudySource(Record):
    """The data a study was bound from and what was said about them, so that another study can start there."""

    table_id: str
    data_name: str = ""
    train_table_id: str | None = None
    train_name: str = ""
    choices: dict[str, Any] = Field({}, description="Fields of DataChoices that were not left to guess.")
