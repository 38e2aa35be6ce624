"""The flight delay model as it came against what the levers make of it, as the product runs both."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks import forests
from benchmarks.sample_study import chained_sample
from engine.plugin import Predict
from engine.records import Step
from engine.runtimes.lightgbm_native import LightgbmNative
from engine.runtimes.trees_binned import TreesBinned

STEPS = (Step(lever="pruning.refit_leaves", params={"keep_rounds": 400}), Step(lever="quantisation.tree_bins"))
ROUNDS = {1: 60, 8: 60, 32: 40, 128: 20, 1024: 10, 8192: 3}  # rows of a call -> rounds


def chain() -> list[str]:
    """Markdown lines: times faster than the baseline, with input check, link and wrapper."""
    rows = np.resize(forests.MODELS["flight_delay"]()[1], (20_000, 19))
    with tempfile.TemporaryDirectory() as home:
        source, result = chained_sample("flight_delay", Path(home) / "home", STEPS)
        with (
            LightgbmNative().open(source) as native,
            LightgbmNative(single_row=True).open(source) as single,
            TreesBinned().open(result) as ours,
        ):
            arms = {"LightGBM": native, "LightGBM, single-row call": single, "a third refitted, binned": ours}
            found = {n: _ratios(arms, rows, n, rounds) for n, rounds in ROUNDS.items()}
    return [
        "### flight_delay: the whole chain",
        "1,200 trees as they came, answered by `lightgbm_native`, against 400 with refitted leaves in bins, answered",
        "by `trees_binned`: answers (not raw scores), input checks included. Times faster.",
        "",
        "| | " + " | ".join(f"{n:,}" for n in ROUNDS) + " |",
        "|---|" + "---|" * len(ROUNDS),
        *(f"| {name} | " + " | ".join(f"{found[n][name]:.3g}" for n in ROUNDS) + " |" for name in list(arms)[1:]),
    ]


def _ratios(arms: Mapping[str, Predict], rows: np.ndarray, n_rows: int, rounds: int) -> dict[str, float]:
    random = np.random.default_rng(0)
    spent: dict[str, list[int]] = {name: [] for name in arms}
    calls = max(1, 200 // n_rows)
    for _ in range(rounds):
        start = int(random.integers(0, len(rows) - n_rows * calls + 1))
        parts = [{"features": rows[i : i + n_rows]} for i in range(start, start + n_rows * calls, n_rows)]
        for name in random.permutation(list(arms)):
            predict = arms[name]
            predict(parts[0])
            begun = time.process_time_ns()
            for part in parts:
                predict(part)
            spent[name].append(time.process_time_ns() - begun)
    base = np.array(spent["LightGBM"])
    return {name: float(np.median(base / np.array(times))) for name, times in spent.items()}
