"""The kernels of binned trees, run with parts of the work left out: what a part takes is the difference."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.plugin import Runtime
from engine.profiling.profiler import N_WARM_UP, Task, ranked
from engine.records import OperatorCost


def operators(runtime: Runtime, task: Task) -> list[OperatorCost]:
    """Time of the call, of turning values into bins (and categories into masks), of the trees, of average and link.

    On one thread. The ways to run it are timed in turn, call by call; medians, and never below 0.
    """
    from engine.forest.binned.pack import FILE
    from engine.forest.compiled import private_copy
    from engine.forest.serve import load

    private_copy()
    model = load(task.artefact.folder / FILE)
    features = task.artefact.manifest.signature.inputs[0].name
    spent_ns: list[list[int]] = []
    for call in range(N_WARM_UP + task.n_calls):
        rows = np.ascontiguousarray(task.inputs(call)[features])
        spent_ns.append([_timed(run) for run in _ways(model, rows, np.empty((len(rows), model.n_classes)))])
    whole, kernel, raw, bins, nothing = np.median(spent_ns[N_WARM_UP:], axis=0) / 1e6
    n_trees = len(model.arrays["tree_leaf"]) - 1
    costs = {
        "call and checks": (1, whole - kernel + nothing),
        "values to bins": (len(model.arrays["features"]) + len(model.arrays["codes"]), bins - nothing),
        f"trees 1 to {n_trees}": (n_trees, raw - bins),
        "average and link": (1, kernel - raw),
    }
    return ranked([{op: (n, max(0.0, float(spent_ms))) for op, (n, spent_ms) in costs.items()}])


def _ways(model: Any, rows: np.ndarray, out: np.ndarray) -> list[Callable[[], Any]]:
    """Everything; the kernel alone; without average and link; without the trees; without bins too."""
    width = model.width(len(rows))
    kernel, everything = model.call(width, raw=False)
    _, raw = model.call(width, raw=True)

    def run(arguments: tuple[Any, ...]) -> Callable[[], None]:
        return lambda: kernel(rows, 0, len(rows), *arguments, out)

    no_trees = _without_trees(raw, width, model.few)
    return [
        lambda: model.predict(rows),
        run(everything),
        run(raw),
        run(no_trees),
        run(_without_bins(no_trees, width)),
    ]


def _without_trees(arguments: tuple[Any, ...], width: int, few: str) -> tuple[Any, ...]:
    """The kernel's arguments, saying that there are no trees. What they hold: `engine.forest.serve.tables`."""
    from engine.forest.serve import kernels

    head = arguments[0].copy()
    if width:
        head[3] = 0  # rounds
        return head, *arguments[1:]
    head[[kernels.N_TREES, kernels.N_LEVELS, kernels.N_COLUMNS]] = 0
    if few == "quickscorer":
        head[kernels.N_CODES] = 0  # its sets strike leaves, those of level_walk are turned into bins
    return head, *arguments[1:]


def _without_bins(arguments: tuple[Any, ...], width: int) -> tuple[Any, ...]:
    from engine.forest.serve import kernels

    if width:
        features, codes = arguments[2], arguments[7]
        return *arguments[:2], features[:0], *arguments[3:7], codes[:0], *arguments[8:]
    head = arguments[0].copy()
    head[[kernels.N_FEATURES, kernels.N_CODES]] = 0
    return head, *arguments[1:]


def _timed(run: Callable[[], Any]) -> int:
    begun = time.perf_counter_ns()
    run()
    return time.perf_counter_ns() - begun
