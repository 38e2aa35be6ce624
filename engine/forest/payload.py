"""How a lever reads a forest from a LightGBM artefact and writes one back, with the notes every tree lever shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import DoesNotFit
from engine.forest.forest import Forest
from engine.forest.lightgbm_text import load, write

FILE = "model.txt"
LINEAR = "the leaves hold linear models: this lever changes leaves that hold a number"


def load_forest(folder: Path) -> Forest:
    """The forest of an artefact. Raises DoesNotFit for linear leaves."""
    forest = load(folder / FILE)
    if forest.linear:
        raise DoesNotFit(LINEAR)
    return forest


def save_forest(forest: Forest, folder: Path) -> None:
    """Write it as LightGBM text, which every tree runtime and lever reads."""
    (folder / FILE).write_text(write(forest), encoding="utf-8", newline="\n")


def why_not(versions: dict[str, str]) -> str | None:
    """None, or why trees with these facts of an upload cannot be changed leaf by leaf."""
    return LINEAR if versions.get("leaves") == "linear" else None


def change_notes(before: Forest, after: Forest, source: Path, out: Path) -> dict[str, Any]:
    """Trees, splits and bytes before and after; `n_trees` goes into the manifest."""
    return {
        "n_trees": len(after.trees),
        "trees_before": len(before.trees),
        "trees_after": len(after.trees),
        "splits_before": sum(tree.n_nodes for tree in before.trees),
        "splits_after": sum(tree.n_nodes for tree in after.trees),
        "bytes_before": (source / FILE).stat().st_size,
        "bytes_after": (out / FILE).stat().st_size,
    }


def rounds_to_keep(forest: Forest, keep_rounds: int, keep_fraction: float) -> int:
    """How many boosting rounds are left, at least one. Raises DoesNotFit when more are asked for than there are."""
    if keep_rounds > forest.n_rounds:
        raise DoesNotFit(f"keep_rounds is {keep_rounds}, the model has {forest.n_rounds} boosting rounds")
    return keep_rounds or max(1, round(forest.n_rounds * keep_fraction))


def stored_counts(forest: Forest) -> list[np.ndarray]:
    """Per tree (n_leaves,) the training rows of each leaf as the file has them, else their weights.

    Raises DoesNotFit when the file has neither.
    """
    found = []
    for i, tree in enumerate(forest.trees):
        text = tree.rest.get("leaf_count") or tree.rest.get("leaf_weight") or ""
        values = np.array(text.split(), np.float64)
        if len(tree.leaf_value) == 1:
            values = np.ones(1)
        if len(values) != len(tree.leaf_value):
            raise DoesNotFit(f"the file does not say how many rows each leaf of tree {i} had; count rows of this study")
        found.append(values)
    return found
