"""The smallest forests that need a given kernel, to have it compiled before a model is there."""

from __future__ import annotations

import numpy as np

from engine.forest.binned.pack import pack
from engine.forest.forest import PLAIN, Forest, Tree
from engine.forest.serve import Model

_LEAVES = {"block": 2, "quickscorer:32": 2, "quickscorer:64": 33, "level_walk": 65}


def answer_with(kernel: str) -> None:
    """Answer float64 rows so that `kernel` ("block:8:0:1:512", "quickscorer:32", …) is the one that is used."""
    kind, *rest = kernel.split(":")
    n_steps, wide, sets, n_rows = map(int, rest) if kind == "block" else (8, 0, 0, 1)
    arrays = pack(_chain(_LEAVES["block" if kind == "block" else kernel], bool(sets))).arrays
    if wide:
        arrays |= {name: arrays[name].astype(np.uint16) for name in ("nans", "zeros")}
        extra = (1 << n_steps) - arrays["thresholds"].shape[1]
        arrays["thresholds"] = np.pad(arrays["thresholds"], ((0, 0), (0, extra)), constant_values=np.inf)
        arrays["row_upto"] = np.pad(arrays["row_upto"], (0, extra))
    Model(arrays).predict(np.zeros((n_rows, 1)))


def _chain(n_leaves: int, sets: bool) -> Forest:
    """One tree in which every node has a leaf on its left."""
    nodes = np.arange(n_leaves - 1)
    tree = Tree(
        feature=np.zeros(n_leaves - 1, np.int32),
        threshold=nodes * 0.0 if sets else nodes + 0.5,
        decision=np.full(n_leaves - 1, int(sets), np.uint8),
        left=(~nodes).astype(np.int32),
        right=np.where(nodes < n_leaves - 2, nodes + 1, ~nodes - 1).astype(np.int32),
        leaf_value=np.arange(n_leaves) + 0.1,
        set_bounds=np.arange(int(sets) + 1, dtype=np.int64),
        set_words=np.ones(int(sets), np.uint32),
    )
    return Forest((tree,), PLAIN, 1, ("f",), ("none",))
