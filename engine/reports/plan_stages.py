"""What a stage profile says, in sentences and in rows."""

from __future__ import annotations

import math
from typing import Any

from engine.records.stages import ReplicaTime, StageProfile, StageTime
from engine.reports.numbers import MISSING, latency, percent, significant


def answer(found: StageProfile, model: str | None = None) -> str:
    """The answer first: the largest stage, and the most that work on the model can give."""
    middle, slow = found.largest_at_p50, found.largest_at_p99
    lead = f"{_first(middle.name)} is the largest stage: {percent(middle.fraction_at_p50)} of a request at p50"
    if slow is not None:
        same = "it" if slow.name == middle.name else slow.name
        lead += f", {same} {percent(slow.fraction_at_p99)} of the slowest 1%"
    stage = found.stage(model) if model else None
    if stage is None:
        return lead
    return f"{lead}; {model} is {percent(stage.time_fraction)}, so optimising it can give at most {ceiling(stage)}"


def ceiling(stage: StageTime) -> str:
    """1.09×, by the law of Amdahl (1967); "any factor" when there is nothing else."""
    return "any factor" if math.isinf(stage.ceiling) else f"{significant(stage.ceiling)}×"


def changed(before: StageProfile, after: StageProfile) -> str:
    """What the changes would bring."""
    ratio = before.mean_ms / after.mean_ms
    text = f"{latency(after.mean_ms)} instead of {latency(before.mean_ms)} in the mean"
    if before.n_requests > 1:
        text += f", p50 {latency(after.p50_ms)} instead of {latency(before.p50_ms)}"
    if before.p99_ms is not None:
        text += f", p99 {latency(after.p99_ms)} instead of {latency(before.p99_ms)}"
    word = "faster" if ratio >= 1 else "slower"
    factor = ratio if ratio >= 1 else 1 / ratio
    return f"{text}: {significant(factor)}× {word}; then {after.largest_at_p50.name} is the largest"


def replica_rows(replicas: tuple[ReplicaTime, ...]) -> list[dict[str, str]]:
    """One row per replica, the slowest first, as text."""
    return [
        {
            "replica": one.name,
            "requests": f"{one.n_requests:,}",
            "p50": latency(one.p50_ms),
            "p99": latency(one.p99_ms),
        }
        for one in replicas
    ]


def rows(found: StageProfile) -> list[dict[str, str]]:
    """One row per stage, as text."""
    return [
        {
            "stage": stage.name,
            "mean": latency(stage.mean_ms),
            "of all time": percent(stage.time_fraction),
            "p50": latency(stage.p50_ms),
            "share at p50": percent(stage.fraction_at_p50),
            "p99": latency(stage.p99_ms),
            "share at p99": percent(stage.fraction_at_p99) if stage.fraction_at_p99 is not None else MISSING,
            "at most": ceiling(stage),
        }
        for stage in found.stages
    ]


def figures(found: StageProfile, model: str | None = None, after: StageProfile | None = None) -> dict[str, Any]:
    """The profile as plain numbers, for JSON."""
    stage = found.stage(model) if model else None
    return {
        "answer": answer(found, model),
        "largest_at_p50": found.largest_at_p50.name,
        "largest_at_p99": found.largest_at_p99.name if found.largest_at_p99 else None,
        "model": model,
        "model_ceiling": _finite(stage) if stage else None,
        **_numbers(found),
        "after": _numbers(after) | {"says": changed(found, after)} if after else None,
        "formulas": formulas(),
    }


def formulas() -> list[str]:
    """How the figures are made, and what they do not know."""
    return [
        "share at p50: of the time of requests with a total from p45 to p55; at p99: of the slowest 1%",
        "at most: 1 / (1 − share of all time), when the stage takes no time at all (Amdahl)",
        "percentiles of stages are not added: the slow requests of two stages are not the same",
        "what-if: everything else, waiting too, stays as it was",
    ]


def _numbers(found: StageProfile) -> dict[str, Any]:
    return {
        **found.model_dump(mode="json", exclude={"stages"}),
        "stages": [stage.model_dump(mode="json") | {"ceiling": _finite(stage)} for stage in found.stages],
    }


def _finite(stage: StageTime) -> float | None:
    return None if math.isinf(stage.ceiling) else stage.ceiling


def _first(text: str) -> str:
    return text[:1].upper() + text[1:]
