"""Taking features out of a trained forest: which the scores hardly miss, and the trees without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from engine.forest.forest import PLAIN, Forest, Tree
from engine.forest.rebuild import KEEP, LEFT, RIGHT, node_sums, rebuild
from engine.forest.rounds import importance_weights
from engine.forest.routes import Routed, leaf_counts, leaf_routes

N_RANKING_ROWS = 2_000


def used_features(forest: Forest) -> np.ndarray:
    """(k,) int64 features that at least one split reads, ascending."""
    parts = [tree.feature for tree in forest.trees if tree.n_nodes]
    return np.unique(np.concatenate(parts)).astype(np.int64) if parts else np.zeros(0, np.int64)


def without(forest: Forest, gone: np.ndarray, goes_left: list[np.ndarray]) -> Forest:
    """The forest that never reads the features `gone`: their splits give way to the side most rows take.

    goes_left: per tree (n_nodes,) bool, which side that is.
    """
    trees = tuple(_tree_without(tree, gone, left) for tree, left in zip(forest.trees, goes_left, strict=True))
    return replace(forest, trees=trees)


def _tree_without(tree: Tree, gone: np.ndarray, goes_left: np.ndarray) -> Tree:
    hit = np.isin(tree.feature, gone)
    return rebuild(tree, np.where(hit, np.where(goes_left, LEFT, RIGHT), KEEP)) if hit.any() else tree


def majority(forest: Forest, routes: np.ndarray) -> list[np.ndarray]:
    """Per tree (n_nodes,) bool: at least half of the rows (n, n_trees) that reach the node go left."""
    found = []
    for tree, counts in zip(forest.trees, leaf_counts(forest, routes), strict=True):
        below = node_sums(tree.left, tree.right, counts)
        left = np.array([below[c] if c >= 0 else counts[~c] for c in tree.left.tolist()])
        found.append(left * 2 >= below if tree.n_nodes else np.zeros(0, bool))
    return found


def score_changes(
    forest: Forest, sent: Routed, goes_left: list[np.ndarray], threads: int, tell: Callable[[float, str], None]
) -> dict[int, float]:
    """Used feature -> how far the scores move without it, root mean square, least first.

    Each feature is taken out alone, on at most 2,000 of the rows; what moves the answer more counts more. Label-free.
    """
    step = max(1, len(sent.rows) // N_RANKING_ROWS)
    rows, routes, scores = sent.rows[::step], sent.routes[::step], sent.scores[::step]
    weights = importance_weights(forest, scores)
    changes: dict[int, float] = {}
    features = used_features(forest).tolist()
    for position, feature in enumerate(features):
        tell(position / len(features), f"without {forest.feature_names[feature][:60]}")
        change = _change(forest, feature, rows, routes, goes_left, threads)
        changes[feature] = float(np.sqrt((weights * change**2).sum() / weights.sum()))
    return dict(sorted(changes.items(), key=lambda item: (item[1], item[0])))


def _change(
    forest: Forest,
    feature: int,
    rows: np.ndarray,
    routes: np.ndarray,
    goes_left: list[np.ndarray],
    threads: int,
) -> np.ndarray:
    """(n, n_classes) new minus old scores. Only the trees that read the feature are asked again."""
    gone = np.array([feature])
    at = [i for i, tree in enumerate(forest.trees) if (tree.feature == feature).any()]
    before = [forest.trees[i] for i in at]
    after = [_tree_without(forest.trees[i], gone, goes_left[i]) for i in at]
    alone = replace(forest, trees=tuple(after), n_classes=1, averaged=False, objective=PLAIN)
    new = leaf_routes(alone, rows, threads)
    change = np.zeros((len(rows), forest.n_classes))
    for column, (i, old_tree, new_tree) in enumerate(zip(at, before, after, strict=True)):
        change[:, i % forest.n_classes] += new_tree.leaf_value[new[:, column]] - old_tree.leaf_value[routes[:, i]]
    return change / forest.n_rounds if forest.averaged else change
