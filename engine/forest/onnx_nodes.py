"""The attributes of ONNX tree operators as one table of nodes, whatever the version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import BadModel, DoesNotFit

_MODES = {b"BRANCH_LEQ": 0, b"BRANCH_LT": 1, b"BRANCH_GTE": 2, b"BRANCH_GT": 3}
_LEAF = b"LEAF"
_LAST_ORDER = 3  # of version 5: <=, <, >=, >; then ==, != and sets


@dataclass(frozen=True, eq=False)
class Nodes:
    """A row per node and leaf. true, false: rows of the children; ranges: (first row = root, end) of each tree.

    row, target, weight: what leaves add, one entry per leaf and score.
    """

    feature: np.ndarray
    threshold: np.ndarray
    mode: np.ndarray
    true: np.ndarray
    false: np.ndarray
    tracks_true: np.ndarray
    is_leaf: np.ndarray
    ranges: list[tuple[int, int]]
    row: np.ndarray
    target: np.ndarray
    weight: np.ndarray


def by_node(operator: str, attributes: dict[str, Any]) -> Nodes:
    """TreeEnsembleRegressor and TreeEnsembleClassifier: nodes named by (tree, node). Raises BadModel, DoesNotFit."""
    prefix = "class" if operator == "TreeEnsembleClassifier" else "target"
    trees, ids = (np.array(attributes[f"nodes_{name}"], np.int64) for name in ("treeids", "nodeids"))
    modes = list(attributes["nodes_modes"])
    is_leaf = np.array([mode == _LEAF for mode in modes], bool)
    if odd := sorted({mode.decode() for mode in modes} - {_LEAF.decode()} - {mode.decode() for mode in _MODES}):
        raise DoesNotFit(f"the trees ask {', '.join(odd)}; thresholds can be converted, equality cannot")
    rows = {key: i for i, key in enumerate(zip(trees.tolist(), ids.tolist(), strict=True))}
    ranges = [
        (int(at[0]), int(at[-1]) + 1) for at in (np.flatnonzero(trees == t) for t in dict.fromkeys(trees.tolist()))
    ]
    tracks = attributes.get("nodes_missing_value_tracks_true") or [0] * len(modes)
    try:
        true, false = (
            [0 if leaf else rows[t, n] for leaf, t, n in zip(is_leaf, trees.tolist(), attributes[name], strict=True)]
            for name in ("nodes_truenodeids", "nodes_falsenodeids")
        )
        keys = zip(attributes[f"{prefix}_treeids"], attributes[f"{prefix}_nodeids"], strict=True)
        row = np.array([rows[key] for key in keys], np.int64)
    except KeyError as error:
        raise BadModel(f"node {error} is named and not there") from error
    return Nodes(
        feature=np.where(is_leaf, 0, np.array(attributes["nodes_featureids"], np.int64)),
        threshold=_reals(attributes, "nodes_values"),
        mode=np.array([_MODES.get(mode, 0) for mode in modes], np.int64),
        true=np.array(true, np.int64),
        false=np.array(false, np.int64),
        tracks_true=np.array(tracks, bool),
        is_leaf=is_leaf,
        ranges=ranges,
        row=row,
        target=np.array(attributes[f"{prefix}_ids"], np.int64),
        weight=_reals(attributes, f"{prefix}_weights"),
    )


def by_leaf(attributes: dict[str, Any]) -> Nodes:
    """TreeEnsemble 5: inner nodes and leaves in lists of their own; leaves become rows behind the nodes."""
    from onnx import numpy_helper

    modes = np.asarray(numpy_helper.to_array(attributes["nodes_modes"]), np.int64)
    if (modes > _LAST_ORDER).any():
        raise DoesNotFit("the trees ask for equality or category sets; only thresholds can be converted")
    n, targets = len(modes), np.array(attributes["leaf_targetids"], np.int64)
    children = {}
    for side in ("true", "false"):
        at = np.array(attributes[f"nodes_{side}nodeids"], np.int64)
        leafs = np.array(attributes[f"nodes_{side}leafs"], bool)
        if ((at < 0) | (at >= np.where(leafs, len(targets), n))).any():
            raise BadModel("a child is named and not there")
        children[side] = np.concatenate([np.where(leafs, at + n, at), np.zeros(len(targets), np.int64)])
    spare = np.zeros(len(targets))
    tracks = attributes.get("nodes_missing_value_tracks_true") or [0] * n
    return Nodes(
        feature=np.concatenate([np.array(attributes["nodes_featureids"], np.int64), spare.astype(np.int64)]),
        threshold=np.concatenate([_reals(attributes, "nodes_splits"), spare]),
        mode=np.concatenate([modes, spare.astype(np.int64)]),
        true=children["true"],
        false=children["false"],
        tracks_true=np.concatenate([np.array(tracks, bool), spare.astype(bool)]),
        is_leaf=np.arange(n + len(targets)) >= n,
        ranges=[(root, root + n) for root in attributes["tree_roots"]],
        row=np.arange(len(targets)) + n,
        target=targets,
        weight=_reals(attributes, "leaf_weights"),
    )


def _reals(attributes: dict[str, Any], name: str) -> np.ndarray:
    """float64: from a list of floats, or from a tensor, which version 3 has under the name with _as_tensor."""
    from onnx import numpy_helper

    tensor = attributes.get(f"{name}_as_tensor")
    if tensor is None and not isinstance(attributes.get(name), list):
        tensor = attributes[name]
    values = attributes[name] if tensor is None else numpy_helper.to_array(tensor)
    return np.asarray(values, np.float64)
