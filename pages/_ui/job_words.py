"""How the state of a job is said."""

from __future__ import annotations

from datetime import UTC, datetime

from engine.records import JobState
from engine.reports import numbers

PHASES = {"waiting": "waiting for the machine", "build": "building", "score": "scoring", "time": "timing"}
ALONE = "Another run has the machine; timing shares it with nobody."


def waits_for(place: int | None, *, running: bool) -> str:
    """Why a queued run has not started yet."""
    if place is None or place > 1:
        return f"Starts after the {place - 1} before it." if place else "Waits for its turn."
    return "Next: starts when a run ends." if running else "Next: the runner is about to take it."


def ordinal(place: int) -> str:
    """1st, 2nd, 3rd, 4th … 11th, 21st."""
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place:,}{ending}"


def progress_text(state: JobState, now: datetime | None = None) -> str:
    """'timing · 43 % · 12 s gone · about 16 s left'."""
    parts = [PHASES.get(state.phase or "", "starting")]
    if state.progress is not None:
        parts.append(f"{numbers.percent(state.progress)}")
    if state.started_at:
        gone_s = max(0.0, ((now or datetime.now(UTC)) - state.started_at).total_seconds())
        parts.append(f"{numbers.duration(gone_s)} gone")
        if state.progress and state.progress > 0.05:
            left_s = gone_s * (1 - state.progress) / state.progress
            parts.append(f"about {numbers.duration(left_s)} left" if left_s >= 1 else "nearly done")
    return " · ".join(parts)
