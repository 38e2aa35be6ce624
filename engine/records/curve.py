"""How quality goes with the size of a forest: fewer trees, fewer features."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engine.records.base import Record
from engine.records.results import Interval
from engine.records.words import Metric

Over = Literal["trees", "features"]


class CurvePoint(Record):
    """One size on the curve."""

    size: int = Field(description="Boosting rounds, or features that are still read.")
    value: float | None = Field(description="The metric on the selection rows; None where it does not exist there.")
    drop: Interval | None = Field(None, description="What is lost against the whole forest; positive is worse.")


class QualityCurve(Record):
    """Quality by size on the selection rows, smallest size first; the last point is the whole forest."""

    study_id: str
    over: Over
    metric: Metric
    relative: bool = Field(description="Drops are shares of the whole forest's value.")
    max_drop: float = Field(description="What the study's promise allows.")
    n_rows: int = Field(description="Selection rows with a label.")
    points: tuple[CurvePoint, ...]
    flattens_at: int | None = Field(
        None, description="From this size on no loss can be told apart from none; at the latest the whole forest."
    )
    within_band_at: int | None = Field(None, description="From this size on the loss stays within the promise.")
    order: tuple[str, ...] = Field((), description="Features, the most important first; empty for trees.")
    how: str = Field(description="How the smaller forests were made, in one sentence.")
