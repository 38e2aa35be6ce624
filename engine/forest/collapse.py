"""Which subtrees can become a leaf: weakest-link pruning over all trees together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.forest.forest import Forest, Tree
from engine.forest.rebuild import CUT, KEEP, rebuild

_ALMOST_NO_ROW = 1e-9  # so that leaves nobody reaches still have a mean


@dataclass(frozen=True)
class _Subtrees:
    """Per node (n_nodes,): the mean leaf below it, and the squared error per split that its collapse adds."""

    mean: np.ndarray
    error_per_split: np.ndarray


def collapse(forest: Forest, counts: list[np.ndarray], n_splits: int) -> Forest:
    """At most `n_splits` splits are left, those whose loss would change the scores most.

    counts: per tree (n_leaves,) rows or weights. A subtree becomes the mean of its leaves; the error it adds, per split
    saved, is compared over all trees (cost-complexity pruning, Breiman et al. 1984, with the original's leaves as the
    truth).
    """
    found = [_subtrees(tree, one + _ALMOST_NO_ROW) for tree, one in zip(forest.trees, counts, strict=True)]
    limit = _limit(forest, found, n_splits)
    trees = tuple(
        rebuild(tree, np.where(one.error_per_split <= limit, CUT, KEEP), one.mean)
        for tree, one in zip(forest.trees, found, strict=True)
    )
    return replace(forest, trees=trees)


def _subtrees(tree: Tree, count: np.ndarray) -> _Subtrees:
    n = tree.n_nodes
    rows, mean, error = np.zeros(n), np.zeros(n), np.zeros(n)
    splits = np.zeros(n, np.int64)
    weakest = np.zeros(n)
    for node in range(n - 1, -1, -1):
        parts = []
        for child in (int(tree.left[node]), int(tree.right[node])):
            if child >= 0:
                parts.append((rows[child], mean[child], error[child]))
                splits[node] += splits[child]
                weakest[node] = max(weakest[node], weakest[child])
            else:
                parts.append((count[~child], tree.leaf_value[~child], 0.0))
        (n_left, m_left, e_left), (n_right, m_right, e_right) = parts
        rows[node] = n_left + n_right
        mean[node] = (n_left * m_left + n_right * m_right) / rows[node]
        error[node] = e_left + e_right + n_left * n_right / rows[node] * (m_left - m_right) ** 2
        splits[node] += 1
        # a node is never cut before what hangs below it: so the splits left fall steadily with the limit
        weakest[node] = max(weakest[node], error[node] / splits[node])
    return _Subtrees(mean, weakest)


def _limit(forest: Forest, found: list[_Subtrees], n_splits: int) -> float:
    """The smallest limit that leaves at most `n_splits`: splits go in the order of their error per split."""
    errors = np.sort(np.concatenate([one.error_per_split for one in found]))
    n_gone = len(errors) - n_splits
    return float(errors[n_gone - 1]) if n_gone > 0 else -np.inf
