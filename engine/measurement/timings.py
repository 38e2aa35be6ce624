"""What a timing run recorded, before any statistics: rounds of single calls, and one line per process."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from engine.measurement.presets import TimingPlan
from engine.records import Workload


@dataclass(frozen=True)
class Round:
    """One block of timed calls, on the rows from `start` on, after one that is not timed.

    total_ns: (k,) int64, prepare + model + post of every call; cpu_each_ns: (k,) int64, its processor time, or None.
    """

    pair: int
    arm: str
    workload: Workload
    number: int
    total_ns: np.ndarray
    prepare_ns: float
    model_ns: float
    post_ns: float
    wall_ns: int
    cpu_ns: int
    n_involuntary: int
    start: int = 0
    cpu_each_ns: np.ndarray | None = None


@dataclass(frozen=True)
class Served:
    """One fresh process: what its start, its first call, its memory and its empty call cost."""

    pair: int
    arm: str
    threads: int
    load_ms: float
    cold_start_ms: float
    peak_bytes: int
    n_warm_up: dict[Workload, int]
    floor_ns: dict[Workload, float]


@dataclass(frozen=True)
class Stop:
    """A cell (workload x pair) that reached its time cap."""

    pair: int
    workload: Workload
    n_rounds: int
    n_planned: int


@dataclass(frozen=True)
class Timings:
    """All raw figures of one run.

    load_average: of the machine, just before the first process was started; n_pool_rows: rows that the calls cycle
    through, the same in every process.
    """

    plan: TimingPlan
    seed: int
    arms: tuple[str, ...]
    workloads: tuple[Workload, ...]
    load_average: float
    n_cores: int
    rounds: tuple[Round, ...]
    processes: tuple[Served, ...]
    stops: tuple[Stop, ...] = field(default=())
    n_pool_rows: int = 1

    def of(self, arm: str, workload: Workload) -> list[Round]:
        """The rounds of one arm at one workload, in the order they ran."""
        return [one for one in self.rounds if one.arm == arm and one.workload == workload]

    def calls_ns(self, arm: str, workload: Workload) -> np.ndarray:
        """(n,) int64: every timed call of one arm at one workload."""
        return np.concatenate([one.total_ns for one in self.of(arm, workload)])

    def calls_by_pair(self, arm: str, workload: Workload) -> list[np.ndarray]:
        """Per pair (n,) int64: its timed calls of one arm at one workload, all rounds pooled."""
        return [np.concatenate([one.total_ns for one in rounds]) for rounds in self.by_pair(arm, workload)]

    def medians_by_pair(self, arm: str, workload: Workload) -> list[np.ndarray]:
        """Per pair (n_rounds,): the median call of each round, in order."""
        pairs = self.by_pair(arm, workload)
        return [np.array([np.median(one.total_ns) for one in rounds]) for rounds in pairs]

    def cpu_by_pair(self, arm: str, workload: Workload) -> list[np.ndarray] | None:
        """Per pair (n,) int64: processor time of every call; None where it was not recorded in every round."""
        pairs = self.by_pair(arm, workload)
        found = [[one.cpu_each_ns for one in rounds if one.cpu_each_ns is not None] for rounds in pairs]
        if any(len(kept) < len(rounds) for kept, rounds in zip(found, pairs, strict=True)):
            return None
        return [np.concatenate(kept) for kept in found]

    def by_pair(self, arm: str, workload: Workload) -> list[list[Round]]:
        """The rounds of one arm at one workload, one list per pair."""
        rounds = self.of(arm, workload)
        return [[one for one in rounds if one.pair == pair] for pair in sorted({one.pair for one in rounds})]
