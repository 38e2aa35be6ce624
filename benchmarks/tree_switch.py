"""Which kernel answers few rows sooner: the table that the switch in `engine.forest.serve` is chosen by."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from engine.forest.serve import Model, load

ROWS = (1, 2, 4, 8, 10, 12, 14, 16, 20, 24, 28, 32, 64)
ROUNDS, CALLS = 15, 10


def kernels_by_rows(folders: dict[str, Path]) -> list[str]:
    """Markdown lines. folders: of models, each with forest.npz and rows.npy."""
    lines = [
        "### Which kernel for how many rows",
        "Microseconds a call: kernel for few rows / blocks; bold where blocks are quicker there and for every larger",
        "batch. The last column is where the runtime switches, for every model with this kernel.",
        "",
        "| model | kernel for few rows | " + " | ".join(f"{n}" for n in ROWS) + " | switch |",
        "|---|---|" + "---|" * (len(ROWS) + 1),
    ]
    for name, folder in folders.items():
        few, blocks = load(folder / "forest.npz"), load(folder / "forest.npz")
        switch, few.switch, blocks.switch = few.switch, 1 << 30, 0
        rows = np.load(folder / "rows.npy")[:20_000]
        pairs = [(_microseconds(few, rows, n), _microseconds(blocks, rows, n)) for n in ROWS]
        quicker = [all(b < a for a, b in pairs[i:]) for i in range(len(pairs))]
        cells = [
            f"**{a:.0f}/{b:.0f}**" if bold else f"{a:.0f}/{b:.0f}" for (a, b), bold in zip(pairs, quicker, strict=True)
        ]
        lines.append(f"| {name} | {few.few} | " + " | ".join(cells) + f" | {switch} |")
    return lines


def _microseconds(model: Model, rows: np.ndarray, n_rows: int) -> float:
    """Median over rounds of the processor time of a call."""
    spent = []
    for round_ in range(ROUNDS):
        starts = np.random.default_rng(round_).integers(0, len(rows) - n_rows, CALLS)
        parts = [rows[start : start + n_rows] for start in starts]
        model.predict(parts[0], raw=True)
        begun = time.process_time_ns()
        for part in parts:
            model.predict(part, raw=True)
        spent.append((time.process_time_ns() - begun) / CALLS / 1e3)
    return float(np.median(spent))
