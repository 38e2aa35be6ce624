"""How long a timing run will take, said before it starts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.measurement.curve import curve
from engine.measurement.presets import PRESETS, TimingPlan
from engine.measurement.protocol import FLOOR_CALLS, rounds_and_calls
from engine.records import Measurement, MeasurementSummary, Preset, Workload

START_S = 0.6  # a confined interpreter that imports a runtime and opens a small model; PyTorch takes a second more
ROUND_S = 0.002  # question, answer and collecting garbage around one round


def estimate_s(
    preset: Preset | TimingPlan,
    workloads: Sequence[Workload],
    p50_ms: float | Sequence[Measurement | MeasurementSummary],
    *,
    start_s: float = START_S,
    n_arms: int = 2,
) -> float:
    """Seconds that timing takes: processes, warm-up and rounds. Waiting for the machine is not in it.

    p50_ms: a guess for every call, or what is known of the model at some workloads; a faster variant takes less.
    start_s: what starting and opening takes per process.
    """
    plan = preset if isinstance(preset, TimingPlan) else PRESETS[preset]
    seen: set[int] = set()
    pair_s = 0.0
    for workload in workloads:
        call_s = (p50_ms if isinstance(p50_ms, int | float) else _known_ms(p50_ms, workload)) / 1000
        first = workload.threads not in seen
        seen.add(workload.threads)
        pair_s += n_arms * start_s if first else 0.0
        pair_s += _cell_s(plan, call_s, n_arms, first=first)
    return plan.n_pairs * pair_s


def _cell_s(plan: TimingPlan, call_s: float, n_arms: int, *, first: bool) -> float:
    """One workload in one pair."""
    calls = plan.warm_up_calls if first else plan.later_warm_up_calls
    seconds = plan.warm_up_s if first else plan.later_warm_up_s
    warm_up_s = min(max(calls * call_s, seconds), max(3 * call_s, plan.warm_up_limit_s))
    planned, n_calls = rounds_and_calls(call_s * 1e9, n_arms * call_s * 1e9, plan)
    round_s = n_arms * ((n_calls + 1) * call_s + ROUND_S)
    n_rounds = min(planned, math.floor(plan.cell_s / round_s) + 1)
    floor_s = n_arms * (call_s + FLOOR_CALLS * 20e-6)
    return n_arms * warm_up_s + n_rounds * round_s + floor_s


def _known_ms(known: Sequence[Measurement | MeasurementSummary], workload: Workload) -> float:
    """The call time at a workload: as measured, on the curve, or in proportion to the only size that is known."""
    same = [one for one in known if one.workload.threads == workload.threads] or list(known)
    assert same, "nothing is known of the model; give a guess instead"
    line = curve({one.workload.batch_size: one.p50_ms.value for one in same})
    size, ms = line.points[-1]
    if line.fit is not None and line.fit.holds:
        return line.call_ms(workload.batch_size)
    if line.points[0][0] <= workload.batch_size <= size:
        return line.call_ms(workload.batch_size)
    return ms * max(1.0, workload.batch_size / size)
