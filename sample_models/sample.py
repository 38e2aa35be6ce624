"""What a sample is: everything the command line and the dashboard need to make a full study of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from engine.records import Goal, Metric, Record

FILES = Path(__file__).parent / "files"


class Sample(Record):
    """One ready-made study. The promise is set so that some levers keep it and some do not."""

    name: str
    title: str
    summary: str = Field(description="One plain sentence.")
    source: str = Field(description="Where the data come from.")
    licence: str = Field(description="Under which terms the data are passed on.")
    model: Path
    data: Path
    choices: dict[str, Any] = Field(description="Fields of engine.data.choices.DataChoices that are not left to guess.")
    metric: Metric
    metric_value: float = Field(description="What the model scores on the selection rows, as built.")
    max_drop: float = Field(0.01, ge=0.0, le=1.0)
    slice_max_drop: float = Field(0.02, ge=0.0, le=1.0)
    goal: Goal = Goal()
    batch: int = Field(1, ge=1, description="Rows of one request.")
    threads: int = Field(1, ge=1)
    price_per_hour: float = Field(0.10, gt=0, description="Of one replica.")
    currency: str = "USD"
