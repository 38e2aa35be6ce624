"""Time two arms side by side in fresh process pairs.

The unit of replication is the process, not the call: every process has a lasting bias of its own, so each pair starts
two new processes (in random order, on the same core), alternates rounds between them and gives one log-ratio. Measured
on one model against itself, this design called 5 % of comparisons different where timing A and then B with a per-call
bootstrap called 92 % different.

Rounds are short (10 ms), so that what the machine does for a while, such as running slower, meets both arms alike.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Protocol

import numpy as np

from engine.measurement.presets import PRESETS, TimingPlan
from engine.measurement.timings import Round, Served, Stop, Timings
from engine.records import Preset, Workload

PERCENTILE_FLOORS = ((500, 100), (100, 20))  # calls in all, calls per pair: what p99 and p95 need
CPU_EACH_NS = 50_000  # below, reading the processor clock at every call would disturb what is timed
FLOOR_CALLS = 100


class Channel(Protocol):
    """A conversation with one process that holds an arm open."""

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send one message, wait for its answer."""
        ...


class Launch(Protocol):
    """Starts processes; the launcher pins both arms of a pair to the same cores."""

    def __call__(self, arm: str, pair: int, threads: int) -> AbstractContextManager[Channel]:
        """A fresh process for that arm, serving with that many threads."""
        ...


Progress = Callable[[float, str], None]


def measure(
    launch: Launch,
    workloads: Sequence[Workload],
    preset: Preset | TimingPlan = "standard",
    seed: int = 0,
    progress: Progress = lambda fraction, text: None,
    *,
    arms: tuple[str, ...] = ("baseline", "variant"),
) -> Timings:
    """Time the arms in fresh process pairs at every workload; each number of threads has pairs of its own.

    A plan instead of a preset's name is for a self-test. progress(fraction in 0..1, what is being done).
    """
    plan = preset if isinstance(preset, TimingPlan) else PRESETS[preset]
    run = _Run(launch, tuple(workloads), plan, np.random.default_rng(seed), progress, arms)
    load_average = os.getloadavg()[0]
    for pair in range(plan.n_pairs):
        run.pair(pair)
    progress(1.0, "timed")
    return Timings(
        plan=plan,
        seed=seed,
        arms=arms,
        workloads=run.workloads,
        load_average=load_average,
        n_cores=_usable_cores(),
        rounds=tuple(run.rounds),
        processes=tuple(run.processes),
        stops=tuple(run.stops),
        n_pool_rows=run.n_pool_rows,
    )


def measure_alone(
    launch: Launch,
    workloads: Sequence[Workload],
    preset: Preset | TimingPlan = "standard",
    seed: int = 0,
    progress: Progress = lambda fraction, text: None,
    *,
    arm: str = "baseline",
) -> Timings:
    """Time one arm in fresh processes, with nothing beside it: a study's baseline."""
    return measure(launch, workloads, preset, seed, progress, arms=(arm,))


def rounds_and_calls(slowest_ns: float, all_arms_ns: float, plan: TimingPlan) -> tuple[int, int]:
    """Rounds of a pair, and calls of each, equal in all arms: a round takes about plan.round_s of the slower arm.

    More of both where p99 (or else p95) then reaches its sample floor and the cell still ends within its cap.
    """
    calls = min(plan.max_calls, max(plan.min_calls, plan.round_s * 1e9 / slowest_ns))
    rounds = plan.n_rounds * plan.round_s * 1e9 / (calls * slowest_ns)
    rounds = min(plan.n_rounds, max(plan.fewest_rounds, math.ceil(rounds)))
    for in_all, per_pair in PERCENTILE_FLOORS:
        needed = max(in_all / plan.n_pairs, per_pair)
        if needed * all_arms_ns <= plan.cell_s * 1e9:
            rounds = min(plan.n_rounds, max(rounds, math.ceil(needed / calls)))
            calls = max(calls, math.ceil(needed / rounds))
            break
    return rounds, int(min(plan.max_calls, calls))


class _Run:
    """What one run has collected so far."""

    def __init__(
        self,
        launch: Launch,
        workloads: tuple[Workload, ...],
        plan: TimingPlan,
        rng: np.random.Generator,
        progress: Progress,
        arms: tuple[str, ...],
    ) -> None:
        self.launch, self.workloads, self.plan, self.rng, self.arms = launch, workloads, plan, rng, arms
        self.tell = progress
        self.rounds: list[Round] = []
        self.processes: list[Served] = []
        self.stops: list[Stop] = []
        self.n_pool_rows = 1
        self.n_cells = 0

    def pair(self, pair: int) -> None:
        """Per number of threads, in random order: fresh processes of both arms."""
        for threads in self._shuffled(list(dict.fromkeys(one.threads for one in self.workloads))):
            self._processes(pair, threads, [one for one in self.workloads if one.threads == threads])

    def _processes(self, pair: int, threads: int, workloads: list[Workload]) -> None:
        """Start the arms in random order, time every workload in random order, read floors and peaks."""
        self._progress(pair, 0.0, "starting")
        with ExitStack() as stack:
            channels = {arm: stack.enter_context(self.launch(arm, pair, threads)) for arm in self._shuffled(self.arms)}
            first = workloads[0].batch_size
            facts = {arm: channel.ask({"do": "hello", "batch": first}) for arm, channel in channels.items()}
            self.n_pool_rows = max(fact["pool_rows"] for fact in facts.values())
            n_warm_up: dict[str, dict[Workload, int]] = {arm: {} for arm in self.arms}
            for position, workload in enumerate(self._shuffled(workloads)):
                self._cell(pair, position, workload, channels, n_warm_up)
                self.n_cells += 1
            for arm, channel in channels.items():
                self.processes.append(
                    Served(
                        pair=pair,
                        arm=arm,
                        threads=threads,
                        load_ms=facts[arm]["load_ms"],
                        cold_start_ms=facts[arm]["cold_start_ms"],
                        peak_bytes=channel.ask({"do": "peak"})["peak_bytes"],
                        n_warm_up=n_warm_up[arm],
                        floor_ns={one: channel.ask(_floor(one))["ns"] for one in workloads},
                    )
                )

    def _cell(
        self,
        pair: int,
        position: int,
        workload: Workload,
        channels: dict[str, Channel],
        n_warm_up: dict[str, dict[Workload, int]],
    ) -> None:
        plan = self.plan
        warm_up = {
            "do": "warm",
            "batch": workload.batch_size,
            "calls": plan.later_warm_up_calls if position else plan.warm_up_calls,
            "seconds": plan.later_warm_up_s if position else plan.warm_up_s,
            "limit_s": plan.warm_up_limit_s,
        }
        self._progress(pair, 0.0, f"warming up, batch {workload.batch_size}")
        warm = {arm: channels[arm].ask(warm_up) for arm in self._shuffled(self.arms)}
        for arm, answer in warm.items():
            n_warm_up[arm][workload] = answer["calls"]
        probed = [answer["ns"] for answer in warm.values()]
        n_rounds, n_calls = rounds_and_calls(max(probed), sum(probed), plan)
        question: dict[str, Any] = {
            "do": "round",
            "batch": workload.batch_size,
            "calls": n_calls,
            "cpu_each": workload.threads == 1 and min(probed) >= CPU_EACH_NS,
        }
        begun = time.perf_counter()
        for number in range(n_rounds):
            self._progress(pair, number / n_rounds, f"batch {workload.batch_size}")
            start = number * n_calls * workload.batch_size  # the same rows in both arms
            for arm in self._shuffled(self.arms):
                answer = channels[arm].ask(question | {"start": start})
                self.rounds.append(_round(pair, arm, workload, number, start, answer))
            if time.perf_counter() - begun > plan.cell_s and number + 1 < n_rounds:
                self.stops.append(Stop(pair=pair, workload=workload, n_rounds=number + 1, n_planned=n_rounds))
                return

    def _shuffled(self, items: Sequence[Any]) -> list[Any]:
        return [items[i] for i in self.rng.permutation(len(items))]

    def _progress(self, pair: int, part: float, text: str) -> None:
        fraction = (self.n_cells + part) / (self.plan.n_pairs * len(self.workloads))
        self.tell(fraction, f"pair {pair + 1} of {self.plan.n_pairs}, {text}")


def _floor(workload: Workload) -> dict[str, Any]:
    return {"do": "floor", "batch": workload.batch_size, "calls": FLOOR_CALLS}


def _round(pair: int, arm: str, workload: Workload, number: int, start: int, answer: dict[str, Any]) -> Round:
    cpu_each = answer["cpu_each_ns"]
    return Round(
        pair=pair,
        arm=arm,
        workload=workload,
        number=number,
        total_ns=np.asarray(answer["ns"], np.int64),
        prepare_ns=answer["prepare_ns"],
        model_ns=answer["model_ns"],
        post_ns=answer["post_ns"],
        wall_ns=answer["wall_ns"],
        cpu_ns=answer["cpu_ns"],
        n_involuntary=answer["involuntary"],
        start=start,
        cpu_each_ns=None if cpu_each is None else np.asarray(cpu_each, np.int64),
    )


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
