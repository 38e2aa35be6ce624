"""What a candidate loses on one set of rows: both values, the drop, and its upper bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.quality import metrics, noninferiority
from engine.records import Metric


@dataclass(frozen=True)
class Rows:
    """Labelled rows with both models' scores, in the same order.

    same: (n,) bool, only for retrieval: the nearest neighbour stayed. weights (n,) >= 0 and groups (n,) are optional.
    """

    baseline: np.ndarray
    candidate: np.ndarray
    labels: np.ndarray | None = None
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None
    same: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.baseline)

    def of(self, mask: np.ndarray) -> Rows:
        """The rows where mask (n,) is true."""
        kept: dict[str, Any] = {name: None if value is None else value[mask] for name, value in vars(self).items()}
        return Rows(**kept)


@dataclass(frozen=True)
class Loss:
    """drop: positive is worse, relative for RMSE. n_units: rows, or queries for NDCG. reason: why values are None."""

    n_units: int
    baseline: float | None = None
    candidate: float | None = None
    drop: float | None = None
    bound: float | None = None
    reason: str | None = None


def loss(metric: Metric, rows: Rows, alpha: float, seed: int = 0, *, bounded: bool = True) -> Loss:
    """The loss of one metric on these rows; `reason` instead of values where the metric does not exist there."""
    if not len(rows):
        return Loss(0, reason="no labelled row")
    if rows.weights is not None and rows.weights.sum() <= 0:
        return Loss(len(rows), reason="all rows have the weight 0")
    if metric == "roc_auc":
        return _auc(rows, alpha, bounded)
    if metric == "accuracy":
        assert rows.labels is not None
        right = [metrics.right_rows(scores, rows.labels) for scores in (rows.baseline, rows.candidate)]
        return _shares(right[0], right[1], rows.weights, alpha, bounded)
    if metric == "retrieval_agreement":
        assert rows.same is not None
        return _shares(np.ones(len(rows), bool), rows.same, rows.weights, alpha, bounded)
    return _rmse(rows, alpha, seed, bounded) if metric == "rmse" else _ndcg(rows, alpha, seed, bounded)


def _auc(rows: Rows, alpha: float, bounded: bool) -> Loss:
    assert rows.labels is not None
    counts = np.bincount(rows.labels[rows.weights > 0] if rows.weights is not None else rows.labels, minlength=2)
    if counts.min() == 0:
        return Loss(len(rows), reason="only one class")
    before = metrics.roc_auc(rows.baseline, rows.labels, rows.weights)
    after = metrics.roc_auc(rows.candidate, rows.labels, rows.weights)
    bound = None
    if bounded and counts.min() >= 2:
        bound = noninferiority.auc_upper(rows.labels, rows.baseline, rows.candidate, rows.weights, alpha)
    return Loss(len(rows), before, after, before - after, bound)


def _shares(before: np.ndarray, after: np.ndarray, weights: np.ndarray | None, alpha: float, bounded: bool) -> Loss:
    n, first, second = len(before), np.average(before, weights=weights), np.average(after, weights=weights)
    bound = None
    if bounded and weights is None:
        bound = noninferiority.tango_upper(int((before & ~after).sum()), int((after & ~before).sum()), n, alpha)
    elif bounded and n >= 2:
        bound = noninferiority.mean_upper(before.astype(float) - after, weights, alpha)
    return Loss(n, float(first), float(second), float(first - second), bound)


def _rmse(rows: Rows, alpha: float, seed: int, bounded: bool) -> Loss:
    assert rows.labels is not None
    before = metrics.rmse(rows.baseline, rows.labels, rows.weights)
    after = metrics.rmse(rows.candidate, rows.labels, rows.weights)
    if before == 0:
        if after == 0:
            return Loss(len(rows), 0.0, 0.0, 0.0)
        return Loss(len(rows), before, after, reason="the original has no error here, the candidate has")
    bound = None
    if bounded and len(rows) >= 2:
        errors2 = [(scores - rows.labels) ** 2 for scores in (rows.baseline, rows.candidate)]
        bound = noninferiority.rmse_upper(errors2[0], errors2[1], rows.weights, alpha, seed)
    return Loss(len(rows), before, after, after / before - 1, _finite(bound))


def _ndcg(rows: Rows, alpha: float, seed: int, bounded: bool) -> Loss:
    assert rows.labels is not None
    assert rows.groups is not None
    queries, before = metrics.ndcg_per_query(rows.baseline, rows.labels, rows.groups)
    _, after = metrics.ndcg_per_query(rows.candidate, rows.labels, rows.groups)
    n = len(queries)
    if not n:
        return Loss(0, reason="no query has a relevant item")
    weights = None
    if rows.weights is not None:
        names, query = np.unique(rows.groups, return_inverse=True)
        mean_weight = np.bincount(query, rows.weights) / np.bincount(query)
        weights = mean_weight[np.searchsorted(names, queries)]
        if weights.sum() <= 0:
            return Loss(n, reason="all queries have the weight 0")
    first, second = float(np.average(before, weights=weights)), float(np.average(after, weights=weights))
    bound = noninferiority.mean_upper(before - after, weights, alpha, seed) if bounded and n >= 2 else None
    return Loss(n, first, second, first - second, bound)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
