"""Every way to run the same trees, one thread, in turn: processor time against LightGBM's own predict."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import lightgbm as lgb
import numpy as np

from benchmarks import forests
from benchmarks.tree_rivals import rivals
from engine.forest.binned import pack, write
from engine.forest.lightgbm_text import parse
from engine.forest.onnx_tree_ensemble import to_onnx
from engine.forest.serve import load
from engine.runtimes.lightgbm_native import single_row_call

BATCHES = {1: 300, 8: 200, 32: 120, 128: 60, 1024: 25, 8192: 7, 100_000: 3}  # rows of a call -> repetitions
Predict = Callable[[np.ndarray], np.ndarray]


def table() -> list[str]:
    """Markdown lines."""
    lines = [
        "## Trees: every way to run the same model",
        "Times faster than `Booster.predict(num_threads=1, raw_score=True)` of the same rows: median of the ratios of",
        "calls in turn, by processor time, one thread, pinned to one core. Larger is faster.",
    ]
    with _pinned():
        for name, make in forests.MODELS.items():
            lines += ["", *_model(name, *make())]
    return lines


def _model(name: str, booster: lgb.Booster, rows: np.ndarray) -> list[str]:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        arms, facts = _arms(booster, rows, Path(folder), stack)
        lines = [
            f"### {name}",
            f"{facts}",
            "",
            "| runtime | " + " | ".join(f"{n:,}" for n in BATCHES) + " | largest difference |",
            "|---|" + "---|" * (len(BATCHES) + 1),
        ]
        cells: dict[str, list[str]] = {arm: [] for arm in arms}
        base: list[str] = []
        for n_rows, repetitions in BATCHES.items():
            ratios, microseconds = _ratios(arms, np.resize(rows, (n_rows, rows.shape[1])), repetitions)
            base.append(f"{microseconds / n_rows:.3g} µs/row")
            for arm in arms:
                cells[arm].append(f"{ratios[arm]:.3g}" if arm in ratios else "")
        right = arms["LightGBM"](rows[:20_000])
        for arm, predict in arms.items():
            gap = np.abs(_many(predict, rows[:20_000]) - right).max()
            shown = base if arm == "LightGBM" else cells[arm]
            lines.append(f"| {arm} | " + " | ".join(shown) + f" | {gap:.1g} |")
    return lines


def _many(predict: Predict, rows: np.ndarray) -> np.ndarray:
    if getattr(predict, "single", False):
        return np.concatenate([predict(rows[i : i + 1]) for i in range(len(rows))])
    return predict(rows)


def _arms(booster: lgb.Booster, rows: np.ndarray, folder: Path, stack: ExitStack) -> tuple[dict[str, Predict], str]:
    """Name -> raw scores of rows; and sizes and build times in a sentence."""
    text = booster.model_to_string()
    forest = parse(text)
    started = time.process_time()
    write(pack(forest, rows[:5000]), folder)
    built = time.process_time() - started
    started = time.process_time()
    model = load(folder / "forest.npz")
    loaded = time.process_time() - started
    arms: dict[str, Predict] = {
        "LightGBM": lambda x: booster.predict(x, num_threads=1, raw_score=True),
        "ours": lambda x: model.predict(x, raw=True),
    }
    single = stack.enter_context(single_row_call(booster, forest.n_classes if forest.n_classes > 1 else 0, raw=True))
    arms["LightGBM, single-row call"] = _only_single(single)
    arms |= rivals(to_onnx(forest), text, folder)
    size = (folder / "forest.npz").stat().st_size
    facts = (
        f"{len(forest.trees):,} trees, {sum(tree.n_nodes for tree in forest.trees):,} splits. LightGBM text "
        f"{len(text) / 1e6:.2f} MB; ours {size / 1e6:.2f} MB, packed in {built:.2f} s and loaded in {loaded:.3f} s of "
        "processor time."
    )
    return arms, facts


def _only_single(call: Predict) -> Predict:
    def predict(x: np.ndarray) -> np.ndarray:
        return call(x)

    predict.single = True  # type: ignore[attr-defined]
    return predict


def _ratios(arms: dict[str, Predict], rows: np.ndarray, repetitions: int) -> tuple[dict[str, float], float]:
    """Medians over repetitions of LightGBM's time by each arm's; LightGBM's median in microseconds a call."""
    random = np.random.default_rng(0)
    names = [name for name, call in arms.items() if len(rows) == 1 or not getattr(call, "single", False)]
    inner = max(1, 200 // len(rows))
    for name in names:
        arms[name](rows)
    spent: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(repetitions):
        for name in random.permutation(names):
            call = arms[name]
            started = time.process_time_ns()
            for _ in range(inner):
                call(rows)
            spent[name].append((time.process_time_ns() - started) / inner)
    base = np.array(spent["LightGBM"])
    return {name: float(np.median(base / np.array(times))) for name, times in spent.items()}, float(
        np.median(base)
    ) / 1e3


@contextmanager
def _pinned() -> Iterator[None]:
    """On one core, where the system has affinity."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
