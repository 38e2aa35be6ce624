"""Signs that the machine or the data, not the model, made a figure: said beside it, never used to drop calls."""

from __future__ import annotations

import numpy as np

from engine.measurement.spread import row_spread
from engine.measurement.timings import Timings
from engine.records import Workload

MOST_PREEMPTED = 0.01
LEAST_CPU = 0.95
MOST_SPREAD = 1.25
MOST_FLOOR = 0.5


def flags(timings: Timings, arm: str, workload: Workload) -> tuple[str, ...]:
    """Sentences for one arm at one workload; empty when nothing was seen.

    CPU time and preemption are judged for one thread only: with several, waiting for each other looks the same.
    """
    said = []
    if timings.load_average > timings.n_cores:
        said.append(
            f"busy machine: load average {timings.load_average:.1f} on {timings.n_cores} cores before the start"
        )
    if workload.threads == 1:
        preempted, cpu = preempted_share(timings, arm, workload), cpu_share(timings, arm, workload)
        if preempted > MOST_PREEMPTED:
            said.append(f"preempted in about {preempted:.1%} of calls: p95 and p99 are partly the scheduler's")
        if cpu < LEAST_CPU:
            said.append(f"on the processor for {cpu:.0%} of the time: p95 and p99 are partly waiting")
    return (*said, *_about_the_model(timings, arm, workload), *_stopped(timings, workload))


def disturbed(timings: Timings, arm: str, workload: Workload) -> bool:
    """True where the scheduler had a part in the tail. Never with several threads, where that cannot be seen."""
    return workload.threads == 1 and (
        preempted_share(timings, arm, workload) > MOST_PREEMPTED or cpu_share(timings, arm, workload) < LEAST_CPU
    )


def preempted_share(timings: Timings, arm: str, workload: Workload) -> float:
    """Involuntary context switches per call, at most 1."""
    rounds = timings.of(arm, workload)
    return min(1.0, sum(one.n_involuntary for one in rounds) / sum(len(one.total_ns) for one in rounds))


def cpu_share(timings: Timings, arm: str, workload: Workload) -> float:
    """Processor time of the whole process / wall time, over the timed rounds."""
    rounds = timings.of(arm, workload)
    return sum(one.cpu_ns for one in rounds) / sum(one.wall_ns for one in rounds)


def _about_the_model(timings: Timings, arm: str, workload: Workload) -> list[str]:
    said = []
    spread = row_spread(timings, arm, workload)
    if spread is not None and spread.slowest > MOST_SPREAD:
        said.append(f"time depends on the data: slowest rows take {spread.slowest:.1f}x")
    p50_ms, floor = float(np.median(timings.calls_ns(arm, workload))) / 1e6, floor_ms(timings, arm, workload)
    if floor > MOST_FLOOR * p50_ms:
        said.append(f"{floor / p50_ms:.0%} of a call is not the model: arrays, scores and the stopwatch")
    return said


def floor_ms(timings: Timings, arm: str, workload: Workload) -> float:
    """What a call costs when the model does nothing: median over the processes of the arm."""
    served = [one for one in timings.processes if one.arm == arm and one.threads == workload.threads]
    return float(np.median([one.floor_ns[workload] for one in served])) / 1e6


def _stopped(timings: Timings, workload: Workload) -> list[str]:
    stops = [stop for stop in timings.stops if stop.workload == workload]
    if not stops:
        return []
    worst = min(stops, key=lambda stop: stop.n_rounds)
    return [
        f"stopped at {timings.plan.cell_s:g} s in {len(stops)} of {timings.plan.n_pairs} pairs, "
        f"after {worst.n_rounds} of {worst.n_planned} rounds at the least"
    ]
