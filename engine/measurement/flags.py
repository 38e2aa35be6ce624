"""Signs that the machine, not the model, made a figure: said beside it, never used to drop calls."""

from __future__ import annotations

from engine.measurement.timings import Timings
from engine.records import Workload

MOST_PREEMPTED = 0.01
LEAST_CPU = 0.95


def flags(timings: Timings, arm: str, workload: Workload) -> tuple[str, ...]:
    """Sentences for one arm at one workload; empty when nothing was seen.

    CPU time and preemption are judged for one thread only: with several, waiting for each other looks the same.
    """
    rounds = timings.of(arm, workload)
    n_calls = sum(len(one.total_ns) for one in rounds)
    cpu = sum(one.cpu_ns for one in rounds) / sum(one.wall_ns for one in rounds)
    preempted = min(1.0, sum(one.n_involuntary for one in rounds) / n_calls)
    said = []
    if timings.load_average > timings.n_cores:
        said.append(
            f"busy machine: load average {timings.load_average:.1f} on {timings.n_cores} cores before the start"
        )
    if workload.threads == 1 and preempted > MOST_PREEMPTED:
        said.append(f"preempted in about {preempted:.1%} of calls: p95 and p99 are partly the scheduler's")
    if workload.threads == 1 and cpu < LEAST_CPU:
        said.append(f"on the processor for {cpu:.0%} of the time: p95 and p99 are partly waiting")
    stops = [stop for stop in timings.stops if stop.workload == workload]
    if stops:
        fewest = min(stop.n_rounds for stop in stops)
        said.append(
            f"stopped at {timings.plan.cell_s:g} s in {len(stops)} of {timings.plan.n_pairs} pairs, "
            f"after {fewest} of {timings.plan.n_rounds} rounds at the least"
        )
    return tuple(said)
