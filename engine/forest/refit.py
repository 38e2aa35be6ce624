"""New leaf values for the trees that are left, so that their sum comes as near to the original's scores as it can.

All leaves of all trees at once, by least squares with a ridge towards the old values: fully corrective, as in
regularised greedy forests (Johnson and Zhang 2014, IEEE TPAMI 36:942), with the original's scores as the target. It
needs rows, no labels.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from engine.forest.forest import Forest
from engine.forest.rebuild import scaled
from engine.forest.routes import margins

N_ITERATIONS = 60


def refit(forest: Forest, routes: np.ndarray, target: np.ndarray, strength: float) -> Forest:
    """The same trees with other leaves.

    routes: (n, n_trees) leaf of each row; target: (n, n_classes) raw scores to come near to. strength: squared change
    of one leaf value weighs as much as that of `strength` rows; a leaf that no row reaches keeps its value. Classes
    are independent of each other.
    """
    trees = list(forest.trees)
    n_classes = forest.n_classes
    scale = forest.n_rounds if forest.averaged else 1
    for k in range(n_classes):
        own = trees[k::n_classes]
        values = _solve(
            np.concatenate([tree.leaf_value for tree in own]),
            np.cumsum([0, *(len(tree.leaf_value) for tree in own)]),
            routes[:, k::n_classes],
            target[:, k] * scale,
            strength,
        )
        trees[k::n_classes] = [replace(tree, leaf_value=new) for tree, new in zip(own, values, strict=True)]
    return replace(forest, trees=tuple(trees))


def recentred(forest: Forest, routes: np.ndarray, target: np.ndarray) -> Forest:
    """The same trees, the first one of each class shifted so that the mean score is the target's."""
    shift = (target - margins(forest, routes)).mean(axis=0) * (forest.n_rounds if forest.averaged else 1)
    trees = list(forest.trees)
    for k in range(forest.n_classes):
        trees[k] = scaled(trees[k], 1.0, float(shift[k]))
    return replace(forest, trees=tuple(trees))


def _solve(
    values: np.ndarray, offsets: np.ndarray, routes: np.ndarray, target: np.ndarray, strength: float
) -> list[np.ndarray]:
    """The mean gap goes into the first tree as a whole, the rest is shared out by LSQR (Paige and Saunders 1982)."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import lsqr

    n, n_trees = routes.shape
    columns = (routes + offsets[:-1].astype(np.int32)).astype(np.int32).ravel()  # row by row
    starts = np.arange(0, n * n_trees + 1, n_trees, dtype=np.int64)
    leaves = csr_matrix((np.ones(n * n_trees), columns, starts), shape=(n, int(offsets[-1])))
    gap = target - leaves @ values
    shift = float(gap.mean())
    step = lsqr(leaves, gap - shift, damp=float(np.sqrt(strength)), iter_lim=N_ITERATIONS)[0]
    new = [values[a:b] + step[a:b] for a, b in pairwise(offsets)]
    new[0] = new[0] + shift
    return new
