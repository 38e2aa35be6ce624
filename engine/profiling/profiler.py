"""What a profiler is, and how it is found."""

from __future__ import annotations

import importlib
import importlib.util
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.plugin import Artefact
from engine.records import OperatorCost

N_WARM_UP = 3


@dataclass(frozen=True)
class Task:
    """What is profiled: the rows of call i as the model takes them, how many calls, and a folder to write into."""

    artefact: Artefact
    inputs: Callable[[int], dict[str, np.ndarray]]
    n_calls: int
    threads: int
    folder: Path


Profiler = Callable[[Any, Task], list[OperatorCost]]  # the runtime with its parameters, the task


def profiler(runtime: str) -> Profiler | None:
    """The profiler of a runtime, or None when it has none."""
    name = f"engine.profiling.{runtime}"
    if not runtime.isidentifier() or importlib.util.find_spec(name) is None:
        return None
    found: Profiler = importlib.import_module(name).operators
    return found


def ranked(calls: Sequence[Mapping[str, tuple[int, float]]]) -> list[OperatorCost]:
    """Costs of one call, dearest first and with shares, from one mapping per call: op -> (nodes, ms).

    Means over the faster half of the calls: the others were more often interrupted, and an interruption falls on
    whatever operator is running.
    """
    faster = sorted(calls, key=lambda call: sum(ms for _, ms in call.values()))[: (len(calls) + 1) // 2]
    n_nodes: dict[str, int] = defaultdict(int)
    spent_ms: dict[str, float] = defaultdict(float)
    for call in faster:
        for op, (n, ms) in call.items():
            n_nodes[op] += n
            spent_ms[op] += ms
    total_ms = sum(spent_ms.values())
    costs = [
        OperatorCost(
            op=op,
            n=round(n_nodes[op] / len(faster)),
            total_ms=ms / len(faster),
            share=ms / total_ms if total_ms else 0.0,
        )
        for op, ms in spent_ms.items()
    ]
    return sorted(costs, key=lambda cost: -cost.total_ms)


def tally(nodes: Iterable[tuple[float, str, float]], begins: Sequence[float]) -> list[dict[str, tuple[int, float]]]:
    """One mapping per call, for `ranked`: nodes are (start, op, ms), begins the starts of the calls, ascending."""
    calls: list[dict[str, tuple[int, float]]] = [{} for _ in begins]
    for start, op, ms in nodes:
        number = bisect_right(begins, start) - 1
        if number >= 0:
            n, before_ms = calls[number].get(op, (0, 0.0))
            calls[number][op] = (n + 1, before_ms + ms)
    return calls
