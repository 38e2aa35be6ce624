"""What the measurements of one experiment at several batch sizes say together."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from engine.measurement.curve import MOST_RESIDUAL, Curve, OneCall, curve
from engine.records import Interval, Measurement, Record

CANDIDATES = 500  # a typical number of items to score within one request


class SweepRow(Record):
    """One batch size."""

    batch_size: int
    p50_ms: Interval
    p95_ms: Interval | None
    items_per_s: Interval
    marginal_ms: float | None = None
    fitted_ms: float | None = None


class Sweep(Record):
    """One model at one number of threads, by batch size."""

    threads: int
    rows: tuple[SweepRow, ...]
    curve: Curve
    uses: str = Field(description="What stands for the model: the line through the points, or the table.")
    marginal_ms: float | None
    flattens_at: int | None
    p95_budget_ms: float | None
    largest_within_budget: int | None
    one_call: OneCall | None


def sweeps(measurements: Sequence[Measurement], p95_ms: float | None = None) -> list[Sweep]:
    """One Sweep per number of threads, in the order measured. p95_ms: the budget that the largest batch must keep."""
    threads = dict.fromkeys(one.workload.threads for one in measurements)
    return [_sweep(n, [one for one in measurements if one.workload.threads == n], p95_ms) for n in threads]


def largest_within(measurements: Sequence[Measurement], p95_ms: float) -> int | None:
    """Largest measured batch whose p95 keeps the budget; None when none does, or none has a p95."""
    kept = [one.workload.batch_size for one in measurements if one.p95_ms and one.p95_ms.value <= p95_ms]
    return max(kept, default=None)


def _sweep(threads: int, measurements: list[Measurement], p95_ms: float | None) -> Sweep:
    ordered = sorted(measurements, key=lambda one: one.workload.batch_size)
    line = curve({one.workload.batch_size: one.p50_ms.value for one in ordered})
    if line.fit is None:
        uses = "one batch size: no line"
    elif line.fit.holds:
        uses = "the line"
    else:
        uses = f"the table, for the line misses by more than {MOST_RESIDUAL:.0%}"
    return Sweep(
        threads=threads,
        rows=tuple(_row(one, before, line) for before, one in zip([None, *ordered], ordered, strict=False)),
        curve=line,
        uses=uses,
        marginal_ms=line.marginal_ms,
        flattens_at=line.flattens_at,
        p95_budget_ms=p95_ms,
        largest_within_budget=None if p95_ms is None else largest_within(ordered, p95_ms),
        one_call=line.one_call(CANDIDATES),
    )


def _row(one: Measurement, before: Measurement | None, line: Curve) -> SweepRow:
    size, p50_ms = one.workload.batch_size, one.p50_ms.value
    return SweepRow(
        batch_size=size,
        p50_ms=one.p50_ms,
        p95_ms=one.p95_ms,
        items_per_s=one.items_per_s_interval or Interval(value=one.items_per_s),
        marginal_ms=(p50_ms - before.p50_ms.value) / (size - before.workload.batch_size) if before else None,
        fitted_ms=line.fit.call_ms(size) if line.fit else None,
    )
