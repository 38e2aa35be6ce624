"""What our stopwatch adds: the median call of an arm against a bare loop, in turn in one process."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.figures import cell
from engine.measurement.arm import Arm

N_ROUNDS = 30
CALLS = 300


def table() -> list[str]:
    """Markdown lines."""
    lines = ["## Overhead of the stopwatch", "| model | bare loop | through the arm | ratio |", "|---|---|---|---|"]
    for width in (32, 256, 1024):
        bare, ours = _both(width)
        ratios = [b / a for a, b in zip(bare, ours, strict=True)]
        lines.append(
            f"| {width} x {width} product | {cell(bare, 'us')} | {cell(ours, 'us')} | {cell(ratios, 'x', 4)} |"
        )
    return lines


def _both(width: int) -> tuple[list[float], list[float]]:
    """Median microseconds of the model part per round, bare and through the arm, alternating."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(width, width)).astype(np.float32)
    pool = {"x": rng.normal(size=(512, width)).astype(np.float32)}

    def predict(inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {"y": inputs["x"] @ weights}

    arm = Arm(predict, pool, None)
    arm.handle({"do": "warm", "batch": 8, "calls": 200, "seconds": 0.2})
    bare, ours = [], []
    for number in range(N_ROUNDS):
        row = {"x": pool["x"][number : number + 8].copy()}
        spent = np.empty(CALLS)
        for i in range(CALLS):
            started = time.perf_counter_ns()
            predict(row)
            spent[i] = time.perf_counter_ns() - started
        bare.append(float(np.median(spent)) / 1e3)
        ours.append(arm.handle({"do": "round", "batch": 8, "calls": CALLS})["model_ns"] / 1e3)
    return bare, ours
