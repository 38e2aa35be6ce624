"""Where the time of a request goes, stage by stage."""

from __future__ import annotations

import math

from pydantic import Field

from engine.records.base import Record

OTHER = "other / waiting"  # the total of a request minus its stages


class StageTime(Record):
    """One stage over all requests. Percentiles are nearest-rank; those of several stages must not be added."""

    name: str
    mean_ms: float
    time_fraction: float = Field(description="Of the time of all requests.")
    p50_ms: float
    p99_ms: float | None = Field(description="None below 500 requests.")
    fraction_at_p50: float = Field(description="Of the time of requests near the median.")
    fraction_at_p99: float | None = Field(description="Of the time of the slowest 1 %; None below 3,000 requests.")

    @property
    def ceiling(self) -> float:
        """How many times less time all requests take when this stage takes none; infinite without a rest."""
        return 1 / (1 - self.time_fraction) if self.time_fraction < 1 else math.inf


class ReplicaTime(Record):
    """The requests of one replica; those of a fleet are pooled, its percentiles never averaged."""

    name: str
    n_requests: int
    p50_ms: float
    p99_ms: float | None = Field(description="None below 500 requests.")


class StageProfile(Record):
    """The stages of one kind of request, in the order given, with what they do not explain as the last."""

    n_requests: int
    stages: tuple[StageTime, ...]
    mean_ms: float
    p50_ms: float
    p99_ms: float | None
    notes: tuple[str, ...] = Field((), description="What was left out, and what too few requests cannot say.")

    @property
    def largest_at_p50(self) -> StageTime:
        """The stage with the largest share of requests near the median."""
        return max(self.stages, key=lambda stage: stage.fraction_at_p50)

    @property
    def largest_at_p99(self) -> StageTime | None:
        """The stage with the largest share of the slowest 1 %; None with too few requests."""
        if any(stage.fraction_at_p99 is None for stage in self.stages):
            return None
        return max(self.stages, key=lambda stage: stage.fraction_at_p99 or 0.0)

    def stage(self, name: str) -> StageTime | None:
        """The stage of that name, or None."""
        return next((stage for stage in self.stages if stage.name == name), None)
