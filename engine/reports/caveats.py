"""What must be said beside a row before it is compared with another one."""

from __future__ import annotations

from engine.records import Comparison, Experiment


def flag_difference(one: Experiment, other: Experiment) -> str | None:
    """How the instruction sets of two runs differ, from the first one's side; None when equal or not recorded.

    Low precision is faster, and even exact or not, by instruction set: u8 x s8 sums saturate without VNNI.
    """
    here, there = (set(run.environment.get("cpu_flags", ())) for run in (one, other))
    if not (one.environment.get("processor") and other.environment.get("processor")) or here == there:
        return None
    parts = [f"{word} {' '.join(sorted(flags))}" for word, flags in (("with", here - there), ("without", there - here))]
    return ", ".join(part for part in parts if not part.endswith(" "))


def caveats(one: Experiment, baseline: Experiment | None, goal: Comparison | None) -> tuple[str, ...]:
    """Sentences for a row. goal: what its goal is judged by."""
    said = []
    difference = flag_difference(one, baseline) if baseline is not None else None
    if difference is not None:
        said.append(f"measured on other CPU flags than the original: {difference}")
    if goal is not None and goal.clock == "cpu":
        said.append(f"p{100 * (goal.quantile or 0):.0f} compared on processor time: the machine was disturbed")
    return tuple(said)
