"""One line of the comparison table."""

from __future__ import annotations

from pydantic import Field

from engine.records import Metric, QualityVerdict, Record, SpeedVerdict, Status


class CompareRow(Record):
    """The columns of every export, in order. None: not measured.

    speedup is baseline p50 / variant p50 of the same process pairs. speedup_vs_export divides two such speed-ups to the
    same baseline, the variant's by the plain export's, so it is indirect and has no interval. Quality is that of the
    selection split; a drop is positive when worse.
    """

    experiment: str
    recipe: str
    runtime: str
    device: str
    status: Status
    batch_size: int
    p50_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    items_per_s: float | None = None
    speedup: float | None = None
    speedup_low: float | None = None
    speedup_high: float | None = None
    speedup_vs_export: float | None = None
    speed_verdict: SpeedVerdict | None = None
    size_bytes: int | None = None
    cost_per_1k: float | None = None
    metric: Metric | None = None
    metric_value: float | None = None
    metric_drop: float | None = None
    worst_slice: str | None = None
    worst_slice_drop: float | None = None
    quality_verdict: QualityVerdict | None = None
    reason: str | None = None

    # What the promise is judged by; not a column of its own.
    is_baseline: bool = Field(False, exclude=True)
    goal_speedup: float | None = Field(None, exclude=True, description="In the goal's own quantity, primary batch.")
    goal_speedup_low: float | None = Field(None, exclude=True)
    goal_note: str | None = Field(None, exclude=True, description="Why the goal's quantity was not compared.")
    quality_reason: str | None = Field(None, exclude=True)
    caveats: tuple[str, ...] = Field((), exclude=True, description="Why it is not like the others; also in `reason`.")


COLUMNS: tuple[str, ...] = tuple(name for name, field in CompareRow.model_fields.items() if not field.exclude)
