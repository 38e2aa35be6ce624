"""ONNX Runtime's own profiler: the time of every node of the optimised graph."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.graph.onnx_session import FUSED_LAYER_NORM, MODEL_FILE, open_session
from engine.profiling.profiler import N_WARM_UP, Task, ranked, tally
from engine.records import OperatorCost
from engine.runtimes.onnxruntime_cpu import OnnxruntimeCpu

NODE = "_kernel_time"
RUN = "model_run"


def operators(runtime: OnnxruntimeCpu, task: Task) -> list[OperatorCost]:
    """Time per kind of node, opened as the runtime opens it. A node's subgraphs are counted by themselves."""
    session = open_session(
        task.artefact.folder / MODEL_FILE,
        threads=task.threads,
        level=runtime.optimisation,
        spinning=runtime.spinning,
        disabled=() if runtime.fuse_layer_norm else FUSED_LAYER_NORM,
        profile_to=task.folder / "profile",
    )
    for call in range(N_WARM_UP + task.n_calls):
        session.run(None, task.inputs(call))
    events = json.loads(Path(session.end_profiling()).read_text())
    return summed(events, N_WARM_UP, task.n_calls)


def summed(events: Sequence[Mapping[str, Any]], n_skipped: int, n_calls: int) -> list[OperatorCost]:
    """ONNX Runtime's trace -> costs of one call; the first n_skipped runs are the warm-up."""
    begins = sorted(event["ts"] for event in events if event["name"] == RUN)
    assert len(begins) == n_skipped + n_calls, "a trace holds one event per run"
    nodes = own_times([event for event in events if event["name"].endswith(NODE)])
    return ranked(tally(nodes, begins[n_skipped:]))


def own_times(nodes: Sequence[Mapping[str, Any]]) -> Iterator[tuple[float, str, float]]:
    """(start, op, ms without the nodes inside it) of every node event, threads apart."""
    around: dict[Any, list[list[Any]]] = defaultdict(
        list
    )  # thread -> open nodes [start, op, own us, end], outermost first
    for event in sorted(nodes, key=lambda one: (one["ts"], -one["dur"])):
        stack = around[event.get("tid")]
        while stack and stack[-1][3] <= event["ts"]:
            yield _closed(stack.pop())
        if stack:
            stack[-1][2] -= event["dur"]
        stack.append([event["ts"], event["args"]["op_name"], float(event["dur"]), event["ts"] + event["dur"]])
    for stack in around.values():
        yield from map(_closed, stack)


def _closed(node: list[Any]) -> tuple[float, str, float]:
    start, op, own_us, _ = node
    return start, op, max(0.0, own_us) / 1000
