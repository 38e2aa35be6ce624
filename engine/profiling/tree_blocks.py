"""For libraries of trees without a profiler: a block of trees costs what a call takes longer with it than without."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from engine.profiling.profiler import N_WARM_UP, Task, ranked
from engine.records import OperatorCost

N_BLOCKS = 8


def block_costs(task: Task, n_rounds: int, per_round: int, predict: Callable[[Any, int], Any]) -> list[OperatorCost]:
    """Time per block of boosting rounds (an eighth of the trees each), and of the call with its first round.

    predict: (rows, how many rounds). Prefixes are timed in turn, call by call, so that drift falls on all of them;
    medians, and never below 0.
    """
    features = task.artefact.manifest.signature.inputs[0].name
    ends = sorted({1, *(round(n_rounds * part / N_BLOCKS) for part in range(1, N_BLOCKS + 1))} - {0})
    spent_ns: dict[int, list[int]] = defaultdict(list)
    for call in range(N_WARM_UP + task.n_calls):
        rows = task.inputs(call)[features]
        for end in ends:
            begun = time.perf_counter_ns()
            predict(rows, end)
            spent_ns[end].append(time.perf_counter_ns() - begun)
    medians_ms = [float(np.median(spent_ns[end][N_WARM_UP:])) / 1e6 for end in ends]
    costs = {f"call, with {_trees(1, per_round)}": (per_round, medians_ms[0])}
    for (start, before_ms), (end, until_ms) in pairwise(zip(ends, medians_ms, strict=True)):
        name = _trees(start * per_round + 1, end * per_round)
        costs[name] = ((end - start) * per_round, max(0.0, until_ms - before_ms))
    return ranked([costs])


def _trees(first: int, last: int) -> str:
    return f"tree {last}" if first == last else f"trees {first} to {last}"
