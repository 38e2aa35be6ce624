"""What our stopwatch adds: the median call of an arm against a bare loop over the same session, in turn."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.figures import cell
from engine.measurement.arm import Arm
from engine.noise_floor import built_in_model, built_in_rows
from engine.runtimes.onnxruntime_cpu import OnnxruntimeCpu

N_ROUNDS = 30
CALLS = 300
Predict = Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]


def table() -> list[str]:
    """Markdown lines."""
    lines = [
        "## Overhead of the stopwatch",
        "Model time of one call: a bare loop over the open session against the same session through an arm, in turn.",
        "The empty call is what an arm costs when the model does nothing; it is reported with every measurement.",
        "",
        "| model | bare loop | through the arm | ratio | empty call |",
        "|---|---|---|---|---|",
    ]
    for width in (32, 256, 1024):
        lines.append(_row(f"numpy, {width} x {width} product, batch 8", *_product(width), 8))
    with tempfile.TemporaryDirectory() as folder:
        artefact = built_in_model(Path(folder))
        pool = {artefact.manifest.signature.inputs[0].name: built_in_rows()}
        with OnnxruntimeCpu().open(artefact) as predict:
            lines += [
                _row(f"ONNX Runtime, 64-512-256-10 net, batch {batch}", predict, pool, batch) for batch in (1, 64)
            ]
    return lines


def _product(width: int) -> tuple[Predict, dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(width, width)).astype(np.float32)
    return lambda inputs: {"y": inputs["x"] @ weights}, {"x": rng.normal(size=(512, width)).astype(np.float32)}


def _row(name: str, predict: Predict, pool: dict[str, np.ndarray], batch: int) -> str:
    bare, ours, floor = _both(predict, pool, batch)
    ratios = [b / a for a, b in zip(bare, ours, strict=True)]
    return f"| {name} | {cell(bare, 'us')} | {cell(ours, 'us')} | {cell(ratios, 'x', 4)} | {floor:.3g} us |"


def _both(predict: Predict, pool: dict[str, np.ndarray], batch: int) -> tuple[list[float], list[float], float]:
    """Median microseconds of the model part per round, bare and through the arm, alternating; and the empty call."""
    arm = Arm(predict, pool, None)
    arm.handle({"do": "warm", "batch": batch, "calls": 200, "seconds": 0.2})
    bare, ours = [], []
    for number in range(N_ROUNDS):
        rows = {name: values[number : number + batch].copy() for name, values in pool.items()}
        spent = np.empty(CALLS)
        for i in range(CALLS):
            started = time.perf_counter_ns()
            predict(rows)
            spent[i] = time.perf_counter_ns() - started
        bare.append(float(np.median(spent)) / 1e3)
        ours.append(arm.handle({"do": "round", "batch": batch, "calls": CALLS})["model_ns"] / 1e3)
    return bare, ours, arm.handle({"do": "floor", "batch": batch, "calls": CALLS})["ns"] / 1e3
