"""Does a variant keep the promise, and by how much does it miss it?"""

from __future__ import annotations

from engine.records import Record, Study
from engine.reports.rows import CompareRow

HOLDS = frozenset({"within band", "exact", "pass"})


class Standing(Record):
    """meets: goal and band are both kept. shortfall: what is missing, in words; None when nothing is."""

    meets: bool
    shortfall: str | None = None


def standing(study: Study, row: CompareRow) -> Standing | None:
    """How a finished variant stands against the promise of its study; None for the baseline and unfinished ones.

    The goal is met when the lower bound of the speed-up clears the factor. A miss is a result, not an error.
    """
    if row.is_baseline or row.status != "succeeded":
        return None
    missing = [text for text in (_goal_missed(study, row), _band_missed(study, row)) if text is not None]
    return Standing(meets=not missing, shortfall="; ".join(missing) or None)


def _goal_missed(study: Study, row: CompareRow) -> str | None:
    goal = study.promise.goal
    if row.goal_speedup is None or row.goal_speedup_low is None:
        return row.goal_note or f"{goal.kind} was not compared"
    if row.goal_speedup_low >= goal.factor:
        return None
    quantity = "" if goal.kind == "p50" else f" in {goal.kind}"
    place = f" at batch {study.workload.batch_size}" if row.batch_size != study.workload.batch_size else ""
    wanted = f"of the {goal.factor:g}x goal{quantity}{place}"
    if row.goal_speedup < goal.factor:
        return f"{_times_below(row.goal_speedup, goal.factor)} {wanted}"
    low = _times_below(row.goal_speedup_low, goal.factor)
    return f"{row.goal_speedup:.3g}x measured but only {low} certain, {wanted}"


def _band_missed(study: Study, row: CompareRow) -> str | None:
    if study.promise.band.metric is None or row.quality_verdict in HOLDS:
        return None
    return row.quality_reason or "quality was not judged"


def _times_below(value: float, factor: float) -> str:
    """A speed-up with the digits it takes to read as less than the factor: 2.97x of 3x, not 3.0x."""
    texts = [f"{value:.{decimals}f}" for decimals in (1, 2, 3, 4)]
    return next((text for text in texts if float(text) < factor), texts[-1]) + "x"
