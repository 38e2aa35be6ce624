"""One tree of an XGBoost model: checked, renumbered from its root, and written back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.forest.xgboost_values import MOST, damaged, real_numbers, texts_of, whole_numbers, whole_of

NO_PARENT = (1 << 31) - 1
_KEYS = {
    "base_weights", "categories", "categories_nodes", "categories_segments", "categories_sizes", "default_left", "id",
    "left_children", "loss_changes", "parents", "right_children", "split_conditions", "split_indices", "split_type",
    "sum_hessian", "tree_param",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class XgboostTree:
    """Nodes and leaves together, (n,) each; children stand behind their parent, a leaf has -1.

    value: float32, the number a value must be below to go left, or what a leaf adds; sets: node -> codes that go right.
    """

    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    value: np.ndarray
    default_left: np.ndarray
    weight: np.ndarray
    sets: dict[int, np.ndarray]

    @property
    def is_leaf(self) -> np.ndarray:
        """(n,) bool."""
        return self.left < 0


def read_tree(found: Any, where: str, n_features: int) -> XgboostTree:
    """A tree of the document, without nodes that pruning left behind. Raises BadModel."""
    if not isinstance(found, dict) or set(found) - _KEYS:
        raise damaged(where, "it is not an object of known fields")
    parameters = texts_of(found.get("tree_param"), f"{where}, tree_param")
    n = whole_of(parameters, "num_nodes", 1, MOST)
    if whole_of(parameters, "size_leaf_vector", 0, MOST) > 1:
        raise damaged(where, "its leaves hold several numbers (multi_strategy='multi_output_tree'), which is not read")

    def whole(key: str, lowest: int, highest: int) -> np.ndarray:
        return whole_numbers(found.get(key), f"{where}, {key}", n, lowest, highest)

    left, right = whole("left_children", -1, n - 1), whole("right_children", -1, n - 1)
    order = _reachable(left, right, where)
    inner = order[left[order] >= 0]
    feature = whole("split_indices", -NO_PARENT - 1, (1 << 32) - 1)
    if ((feature[inner] < 0) | (feature[inner] >= n_features)).any():
        raise damaged(where, f"split_indices names a column outside 0 to {n_features - 1}")
    place = np.full(n, -1)
    place[order] = np.arange(len(order))
    return XgboostTree(
        left=np.where(left[order] >= 0, place[left[order]], -1).astype(np.int32),
        right=np.where(right[order] >= 0, place[right[order]], -1).astype(np.int32),
        feature=np.where(left[order] >= 0, feature[order], 0).astype(np.int32),
        value=_finite(found, "split_conditions", where, n)[order],
        default_left=_flags(found.get("default_left"), f"{where}, default_left", n)[order],
        weight=_finite(found, "sum_hessian", where, n)[order],
        sets=_sets(found, where, n, order, place),
    )


def _finite(found: dict[str, Any], key: str, where: str, n: int) -> np.ndarray:
    return real_numbers(found.get(key), f"{where}, {key}", n)


def _flags(found: Any, where: str, n: int) -> np.ndarray:
    if isinstance(found, list) and all(isinstance(one, bool) for one in found):
        found = [int(one) for one in found]  # as XGBoost 1.6 to 1.7 write it in JSON
    return whole_numbers(found, where, n, 0, 1).astype(np.uint8)


def _reachable(left: np.ndarray, right: np.ndarray, where: str) -> np.ndarray:
    """Numbers of the nodes below the root, level by level. Raises BadModel for a circle or a half node."""
    if ((left < 0) != (right < 0)).any():
        raise damaged(where, "a node has one child")
    seen = np.zeros(len(left), bool)
    levels = []
    level = np.zeros(1, np.int64)
    while len(level):
        if seen[level].any() or len(np.unique(level)) != len(level):
            raise damaged(where, "left_children or right_children runs in a circle")
        seen[level] = True
        levels.append(level)
        inner = level[left[level] >= 0]
        level = np.stack([left[inner], right[inner]], axis=1).ravel()
    return np.concatenate(levels)


def _sets(found: dict[str, Any], where: str, n: int, order: np.ndarray, place: np.ndarray) -> dict[int, np.ndarray]:
    """New node number -> codes. A categorical split has its codes, every other has none."""
    kinds = whole_numbers(found.get("split_type", [0] * n), f"{where}, split_type", n, 0, 1)
    nodes = whole_numbers(found.get("categories_nodes", []), f"{where}, categories_nodes", None, 0, n - 1)
    codes = whole_numbers(found.get("categories", []), f"{where}, categories", None, 0, MOST - 1)
    starts = whole_numbers(found.get("categories_segments", []), f"{where}, categories_segments", len(nodes), 0, MOST)
    sizes = whole_numbers(found.get("categories_sizes", []), f"{where}, categories_sizes", len(nodes), 0, MOST)
    if len(np.unique(nodes)) != len(nodes) or (starts + sizes > len(codes)).any():
        raise damaged(where, "categories_segments and categories_sizes do not fit the categories")
    inner = set(order[np.asarray(found["left_children"])[order] >= 0].tolist())
    sets = {
        int(place[node]): np.unique(codes[start : start + size])
        for node, start, size in zip(nodes.tolist(), starts.tolist(), sizes.tolist(), strict=True)
        if node in inner
    }
    if {int(place[node]) for node in np.flatnonzero(kinds).tolist() if node in inner} != set(sets):
        raise damaged(where, "split_type and categories_nodes do not fit each other")
    return sets


def write_tree(tree: XgboostTree, number: int, n_features: int) -> dict[str, Any]:
    """The tree as a document; gains are not kept."""
    n = len(tree.left)
    parents = np.full(n, NO_PARENT, np.int32)
    for side in (tree.left, tree.right):
        inner = np.flatnonzero(side >= 0)
        parents[side[inner]] = inner
    nodes = sorted(tree.sets)
    sizes = [len(tree.sets[node]) for node in nodes]
    kinds = np.zeros(n, np.uint8)
    kinds[nodes] = 1
    codes = np.concatenate([tree.sets[node] for node in nodes]) if nodes else np.zeros(0)
    return {
        "base_weights": np.where(tree.is_leaf, tree.value, 0).astype(np.float32),
        "categories": codes.astype(np.int32),
        "categories_nodes": np.array(nodes, np.int32),
        "categories_segments": np.cumsum([0, *sizes])[:-1].astype(np.int64),
        "categories_sizes": np.array(sizes, np.int64),
        "default_left": tree.default_left,
        "id": number,
        "left_children": tree.left,
        "loss_changes": np.zeros(n, np.float32),
        "parents": parents,
        "right_children": tree.right,
        "split_conditions": tree.value,
        "split_indices": tree.feature,
        "split_type": kinds,
        "sum_hessian": tree.weight,
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(n_features),
            "num_nodes": str(n),
            "size_leaf_vector": "1",
        },
    }
