"""Which leaf of which tree a row falls into, and what the leaves add up to.

The way through the trees is LightGBM's own, so it is right by definition; the sums are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.errors import DoesNotFit
from engine.forest.forest import Forest
from engine.forest.lightgbm_text import write

MOST_ENTRIES = 60_000_000  # rows times trees held at once: 240 MB of leaf numbers
SWAPPED = 0.1  # of the values of a mixed row
Inputs = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Routed:
    """Rows that went through a forest.

    rows: (n, n_features) float64, the real ones first; routes: (n, n_trees) int32 leaf in each tree; scores: (n,
    n_classes) raw scores.
    """

    rows: np.ndarray
    routes: np.ndarray
    scores: np.ndarray
    n_real: int

    def of_rounds(self, rounds: np.ndarray) -> np.ndarray:
        """The columns of `routes` that belong to some boosting rounds."""
        k = self.scores.shape[1]
        return self.routes[:, (rounds[:, None] * k + np.arange(k)).ravel()]


def route(
    forest: Forest, splits: tuple[Inputs, ...], at_most: int, seed: int, threads: int = 1, mixed: float = 0.0
) -> Routed:
    """Send rows of the first split that has any: at most so many, and no more than memory takes for so many trees.

    mixed: made-up rows per real one, behind the real ones. Raises DoesNotFit when no split has rows.
    """
    features = next((found for found in (_features(split) for split in splits) if len(found)), None)
    if features is None:
        raise DoesNotFit("needs training or calibration rows (no labels); the evaluation set has neither")
    room = int(MOST_ENTRIES / max(1, len(forest.trees)) / (1 + mixed))
    m = min(len(features), at_most, max(1_000, room))
    random = np.random.default_rng(seed)
    if m < len(features):
        features = features[np.sort(random.choice(len(features), m, replace=False))]
    rows = np.ascontiguousarray(features, np.float64)
    rows = np.concatenate([rows, mixed_rows(rows, round(m * mixed), random)])
    routes = leaf_routes(forest, rows, threads)
    return Routed(rows, routes, margins(forest, routes), m)


def mixed_rows(rows: np.ndarray, n: int, random: np.random.Generator) -> np.ndarray:
    """(n, k) rows of which a tenth of the values comes from another row: what the original says between the rows.

    A plain form of MUNGE (Buciluǎ, Caruana and Niculescu-Mizil 2006, Model Compression), without its neighbours.
    """
    first, other = (rows[random.integers(0, len(rows), n)] for _ in range(2))
    return np.where(random.random(first.shape) < SWAPPED, other, first)


def _features(split: Inputs) -> np.ndarray:
    return next(iter(split.values()))


def leaf_routes(forest: Forest, rows: np.ndarray, threads: int = 1) -> np.ndarray:
    """(n, n_trees) int32 leaf of each row (n, n_features) in each tree, one tree's column after the other."""
    import lightgbm

    if not len(rows) or not forest.trees:
        return np.zeros((len(rows), len(forest.trees)), np.int32)
    booster = lightgbm.Booster(model_str=write(forest))
    found = booster.predict(np.ascontiguousarray(rows, np.float64), pred_leaf=True, num_threads=threads)
    return np.asfortranarray(np.asarray(found, np.int32).reshape(len(rows), len(forest.trees)))


def margins(forest: Forest, routes: np.ndarray) -> np.ndarray:
    """(n, n_classes) float64 raw scores: sums over the trees of a class, their mean where the forest averages."""
    sums = np.zeros((len(routes), forest.n_classes))
    for i, tree in enumerate(forest.trees):
        sums[:, i % forest.n_classes] += tree.leaf_value[routes[:, i]]
    return sums / forest.n_rounds if forest.averaged else sums


def leaf_counts(forest: Forest, routes: np.ndarray) -> list[np.ndarray]:
    """Per tree (n_leaves,) float64: how many rows fall into each leaf."""
    return [
        np.bincount(routes[:, i], minlength=len(tree.leaf_value)).astype(np.float64)
        for i, tree in enumerate(forest.trees)
    ]


def root_mean_square(gap: np.ndarray) -> float:
    """Of all entries."""
    return float(np.sqrt(np.mean(gap**2)))
