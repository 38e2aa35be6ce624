"""Choosing boosting rounds: the fewest whose weighted sum stays near the original's scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.forest.forest import Forest
from engine.forest.rebuild import scaled

N_PENALTIES = 40


def importance_weights(forest: Forest, target: np.ndarray) -> np.ndarray:
    """(n, n_classes) how much a small change of a raw score matters: the curvature of the objective's own loss.

    p(1 − p) for probabilities, the mean for exponential links, 1 otherwise (Fisher information, label-free).
    """
    link = forest.objective.link
    if link in ("sigmoid", "sigmoid per class"):
        p = 1.0 / (1.0 + np.exp(-np.clip(target * forest.objective.sigmoid, -500, 500)))
        return np.asarray(p * (1.0 - p))
    if link == "softmax":
        p = np.exp(target - target.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return np.asarray(p * (1.0 - p))
    if link == "exp":
        return np.asarray(np.exp(target - target.max()))
    return np.ones_like(target)


def choose_rounds(forest: Forest, routes: np.ndarray, target: np.ndarray, n_keep: int) -> np.ndarray:
    """(n_rounds,) weights >= 0, of which at most `n_keep` are not 0, by a non-negative lasso.

    min ½ Σ h (s − Σ w_r f_r)² + λ Σ w_r over w >= 0, with s the original's scores, h their importance and f_r the
    centred scores of round r; λ is the one that leaves about `n_keep` rounds (Friedman and Popescu 2003, importance
    sampled learning ensembles). Those are then weighted without λ, which had shrunk them (Meinshausen 2007, relaxed
    lasso). routes: (n, n_trees); target: (n, n_classes).
    """
    from sklearn.linear_model import lasso_path

    root = np.sqrt(importance_weights(forest, target) + 1e-12)
    parts = np.empty((target.size, forest.n_rounds), order="F")
    for r in range(forest.n_rounds):
        one = _of_round(forest, routes, r)
        parts[:, r] = ((one - np.average(one, axis=0, weights=root**2)) * root).ravel()
    goal = ((target - np.average(target, axis=0, weights=root**2)) * root).ravel()
    products, with_goal = parts.T @ parts, parts.T @ goal
    largest = float(with_goal.max()) / len(goal)
    if largest <= 0:  # every round is constant
        return np.concatenate([np.ones(n_keep), np.zeros(forest.n_rounds - n_keep)])
    penalties = largest * np.geomspace(0.99, 1e-6, N_PENALTIES)
    _, weights, _ = lasso_path(
        parts, goal, alphas=penalties, precompute=products, Xy=with_goal, positive=True, max_iter=300, tol=1e-4
    )
    n_kept = (weights > 0).sum(axis=0)
    enough = np.flatnonzero(n_kept >= n_keep)
    chosen = weights[:, enough[0] if len(enough) else -1].copy()
    reach = chosen * np.sqrt(np.diag(products))
    chosen[np.argsort(-reach, kind="stable")[n_keep:]] = 0.0
    kept = np.flatnonzero(chosen)
    _, again, _ = lasso_path(
        parts[:, kept],
        goal,
        alphas=[largest * 1e-9],
        precompute=np.asfortranarray(products[np.ix_(kept, kept)]),
        Xy=with_goal[kept],
        coef_init=chosen[kept],
        positive=True,
        max_iter=1_000,
        tol=1e-6,
    )
    relaxed = np.zeros(forest.n_rounds)
    relaxed[kept] = again[:, 0]
    return relaxed


def _of_round(forest: Forest, routes: np.ndarray, r: int) -> np.ndarray:
    """(n, n_classes) what one round adds to the raw score."""
    k = forest.n_classes
    columns = [forest.trees[r * k + c].leaf_value[routes[:, r * k + c]] for c in range(k)]
    sums = np.stack(columns, axis=1)
    return sums / forest.n_rounds if forest.averaged else sums


def only_rounds(forest: Forest, rounds: np.ndarray, weights: np.ndarray | None = None) -> Forest:
    """The forest of some rounds, in order. weights: (n_rounds,) factors of the leaves.

    An averaging forest stays one: its mean is over the rounds that are left, so weighted leaves grow accordingly.
    """
    k = forest.n_classes
    grown = len(rounds) / forest.n_rounds if forest.averaged else 1.0
    trees = []
    for r in rounds.tolist():
        factor = 1.0 if weights is None else float(weights[r]) * grown
        trees += [scaled(tree, factor) for tree in forest.trees[r * k : r * k + k]]
    return replace(forest, trees=tuple(trees))


def spread_rounds(n_rounds: int, n_keep: int) -> np.ndarray:
    """(n_keep,) round numbers at even distances, the first (which carries the average) among them."""
    return np.unique(np.floor(np.arange(n_keep) * n_rounds / n_keep).astype(np.int64))
