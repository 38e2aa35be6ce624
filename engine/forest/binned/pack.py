"""Pack a forest into the arrays of `engine.forest.serve`, and write them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import DoesNotFit
from engine.forest.binned.columns import Binned, bin_forest, shares_left
from engine.forest.binned.few_rows import row_tables
from engine.forest.binned.program import block_program
from engine.forest.forest import ZERO, Forest
from engine.forest.leaf_grid import grid_of
from engine.forest.serve import VERSION
from engine.forest.serve.kernels import BLOCK, NARROW, TREES

FILE = "forest.npz"
_LINKS = {"sigmoid per class": "sigmoid", "unknown": "identity"}  # a custom objective answers with its raw score


@dataclass(frozen=True)
class Packed:
    """The arrays of the file, and what is worth telling of them."""

    arrays: dict[str, np.ndarray]
    facts: dict[str, Any]


def why_not(forest: Forest) -> str | None:
    """None, or why this forest cannot be binned."""
    if forest.linear:
        return "linear trees cannot be binned: their leaves hold a model, a binned forest holds numbers"
    return None


def pack(forest: Forest, rows: np.ndarray | None = None) -> Packed:
    """rows: (m, n_features), used only to see which way each node usually goes (speed of single rows, never answers).

    Raises DoesNotFit.
    """
    if reason := why_not(forest):
        raise DoesNotFit(reason)
    binned = bin_forest(forest)
    program = block_program(forest, binned)
    few, tables = row_tables(forest, binned, shares_left(binned, rows))
    leaves = max(len(tree.leaf_value) for tree in forest.trees)
    about = {
        "version": VERSION,
        "n_features": forest.n_features,
        "feature_names": list(forest.feature_names),
        "n_classes": forest.n_classes,
        "link": _LINKS.get(forest.objective.link, forest.objective.link),
        "slope": forest.objective.sigmoid,
        "rounds": float(forest.n_rounds) if forest.averaged else 1.0,
        "zero_width": ZERO,
        "leaves": leaves,
        "slots": int(program["nodes"][:, 2:].max(initial=leaves + TREES - 1)) + 1,
        "row_kernel": few,
        "first_set_entry": tables.pop("first_set_entry", 0),
    }
    leaf, scale = _leaves(forest)
    about |= {"leaf_scale": scale} if scale else {}
    arrays = {**_columns(binned), **program, **leaf, **tables}
    facts = {
        "trees": len(forest.trees),
        "splits": int(binned.first_node[-1]),
        "leaves_per_tree": leaves,
        "thresholds": sum(len(values) for values in binned.thresholds),
        "category_sets": len(np.unique(binned.limit[binned.is_set])),
        "bits_per_bin": 16 if binned.wide else 8,
        "bits_per_leaf": 16 if scale else 64,
        "kernels": " ".join(_kernels(arrays, few)),
    }
    return Packed(arrays | {"about": np.array(json.dumps(about))}, facts)


def write(packed: Packed, folder: Path) -> None:
    """folder/forest.npz; equal forests give equal bytes."""
    np.savez_compressed(folder / FILE, allow_pickle=False, **packed.arrays)  # type: ignore[arg-type]


def _columns(binned: Binned) -> dict[str, np.ndarray]:
    bins = np.uint16 if binned.wide else np.uint8
    thresholds = np.full((len(binned.features), binned.table_size), np.inf)
    for u, values in enumerate(binned.thresholds):
        thresholds[u, : len(values)] = values
    return {
        "features": binned.features,
        "thresholds": thresholds,
        "starts": binned.starts,
        "nans": binned.nans.astype(bins),
        "zeros": binned.zeros.astype(bins),
        "codes": binned.codes,
        "members": binned.members,
    }


def _leaves(forest: Forest) -> tuple[dict[str, np.ndarray], float | None]:
    """Leaf values, as 16-bit steps where they lie on such a grid (`quantisation.tree_leaves16` puts them there)."""
    sizes = [len(tree.leaf_value) for tree in forest.trees]
    first = {"tree_leaf": np.cumsum([0, *sizes]).astype(np.int32)}
    if (grid := grid_of(forest)) is None:
        return first | {"leaf": np.concatenate([tree.leaf_value for tree in forest.trees])}, None
    return first | {"leaf_step": np.concatenate(grid.steps), "leaf_middle": grid.middles}, grid.scale


def _kernels(arrays: dict[str, np.ndarray], few: str) -> list[str]:
    """The kernels that answer for this file, as `engine.forest.compiled.warm` takes them."""
    n_steps, wide = arrays["thresholds"].shape[1].bit_length() - 1, arrays["nans"].dtype == np.uint16
    block = [f"block:{n_steps}:{int(wide)}:{int(bool(len(arrays['codes'])))}:{width}" for width in (NARROW, BLOCK)]
    bits = f":{8 * arrays['row_masks'].itemsize}" if few == "quickscorer" else ""
    return block * bool(len(arrays["nodes"])) + [few + bits]
