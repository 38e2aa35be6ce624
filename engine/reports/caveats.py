"""What must be said beside a row before it is compared with another one."""

from __future__ import annotations

from engine.records import Comparison, ExperimentSummary


def flag_difference(one: ExperimentSummary, other: ExperimentSummary) -> str | None:
    """How the instruction sets of two runs differ, from the first one's side; None when equal or not recorded.

    Low precision is faster, and even exact or not, by instruction set: u8 x s8 sums saturate without VNNI.
    """
    if not (one.processor and other.processor) or one.cpu_flags == other.cpu_flags:
        return None
    here, there = set(one.cpu_flags), set(other.cpu_flags)
    parts = [f"{word} {' '.join(sorted(flags))}" for word, flags in (("with", here - there), ("without", there - here))]
    return ", ".join(part for part in parts if not part.endswith(" "))


def caveats(one: ExperimentSummary, baseline: ExperimentSummary | None, goal: Comparison | None) -> tuple[str, ...]:
    """Sentences for a row. goal: what its goal is judged by."""
    said = []
    difference = flag_difference(one, baseline) if baseline is not None else None
    if difference is not None:
        said.append(f"measured on other CPU flags than the original: {difference}")
    if goal is not None and goal.clock == "cpu":
        said.append(f"p{100 * (goal.quantile or 0):.0f} compared on processor time: the machine was disturbed")
    return tuple(said)
