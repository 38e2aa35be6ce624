"""What a timing run recorded, before any statistics: rounds of single calls, and one line per process."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from engine.measurement.presets import TimingPlan
from engine.records import Workload


@dataclass(frozen=True)
class Round:
    """One block of timed calls. total_ns: (k,) int64, prepare + model + post of every call."""

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


@dataclass(frozen=True)
class Served:
    """One fresh process: what its start, its first call and its memory cost."""

    pair: int
    arm: str
    load_ms: float
    cold_start_ms: float
    peak_bytes: int
    n_warm_up: dict[Workload, int]


@dataclass(frozen=True)
class Stop:
    """A cell (workload x pair) that reached its time cap."""

    pair: int
    workload: Workload
    n_rounds: int


@dataclass(frozen=True)
class Timings:
    """All raw figures of one run. load_average: of the machine, just before the first process was started."""

    plan: TimingPlan
    seed: int
    arms: tuple[str, ...]
    workloads: tuple[Workload, ...]
    load_average: float
    n_cores: int
    rounds: tuple[Round, ...]
    processes: tuple[Served, ...]
    stops: tuple[Stop, ...] = field(default=())

    def of(self, arm: str, workload: Workload) -> list[Round]:
        """The rounds of one arm at one workload, in the order they ran."""
        return [one for one in self.rounds if one.arm == arm and one.workload == workload]

    def calls_ns(self, arm: str, workload: Workload) -> np.ndarray:
        """(n,) int64: every timed call of one arm at one workload."""
        return np.concatenate([one.total_ns for one in self.of(arm, workload)])

    def calls_by_pair(self, arm: str, workload: Workload) -> list[np.ndarray]:
        """Per pair (n,) int64: its timed calls of one arm at one workload, all rounds pooled."""
        rounds = self.of(arm, workload)
        pairs = sorted({one.pair for one in rounds})
        return [np.concatenate([one.total_ns for one in rounds if one.pair == pair]) for pair in pairs]
