"""What a candidate loses on one set of rows: both values, the drop, and its upper bound. One function per method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.quality import auc, f1, label_f1, means, noninferiority, pr_auc, ranking


@dataclass(frozen=True)
class Rows:
    """Rows with what a metric reads of both models' answers, (n,) each, in the same order; (n, k) for several labels.

    weights (n,) >= 0, units (n,) whole numbers from 0 (rows of one unit depend on each other) and queries (n,) are
    optional.
    """

    baseline: np.ndarray
    candidate: np.ndarray
    labels: np.ndarray | None = None
    weights: np.ndarray | None = None
    units: np.ndarray | None = None
    queries: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.baseline)

    def of(self, mask: np.ndarray) -> Rows:
        """The rows where mask (n,) is true."""
        kept: dict[str, Any] = {name: None if value is None else value[mask] for name, value in vars(self).items()}
        return Rows(**kept)

    @property
    def n_units(self) -> int:
        """Independent units: groups where there are groups, else rows."""
        return len(self) if self.units is None else int((np.bincount(self.units) > 0).sum())


@dataclass(frozen=True)
class Loss:
    """drop: positive is worse, a share of the baseline for losses without a fixed scale. reason: why values are None.

    n_units: rows, or queries for NDCG. harm_p: p of "nothing is lost".
    """

    n_units: int
    baseline: float | None = None
    candidate: float | None = None
    drop: float | None = None
    bound: float | None = None
    harm_p: float | None = None
    reason: str | None = None


def shares(rows: Rows, alpha: float, seed: int, *, bounded: bool) -> Loss:
    """Share of rows that are right. Readings: bool."""
    before, after = rows.baseline.astype(bool), rows.candidate.astype(bool)
    first, second = (float(np.average(right, weights=rows.weights)) for right in (before, after))
    bound = None
    if bounded:
        bound = noninferiority.share_bound(before, after, rows.weights, rows.units, alpha=alpha, seed=seed)
    return _loss(len(rows), first, second, first - second, bound)


def roc_areas(rows: Rows, alpha: float, seed: int, *, bounded: bool) -> Loss:
    """ROC AUC. Readings: scores, higher for the second class."""
    if (reason := _one_class(rows)) is not None:
        return Loss(len(rows), reason=reason)
    pair = auc.delong(_labels(rows), rows.baseline, rows.candidate, rows.weights, rows.units)
    bound = auc.auc_bound(pair, alpha) if bounded and math.isfinite(pair.se) else None
    return _loss(len(rows), pair.baseline, pair.candidate, -pair.difference, bound)


def macro_roc_areas(rows: Rows, alpha: float, seed: int, *, bounded: bool) -> Loss:
    """Mean ROC AUC of the labels that some rows have and others have not. Readings: (n, k) scores."""
    pair = auc.delong_macro(_labels(rows), rows.baseline, rows.candidate, rows.weights, rows.units)
    if pair is None:
        return Loss(len(rows), reason="no label that some rows have and others have not")
    bound = auc.auc_bound(pair, alpha) if bounded and math.isfinite(pair.se) else None
    return _loss(len(rows), pair.baseline, pair.candidate, -pair.difference, bound)


def wrong_decisions(rows: Rows, alpha: float, seed: int, *, bounded: bool) -> Loss:
    """Share of decisions on one label that are wrong. Readings: (n, k) bool, right or not."""
    first, second = (
        1.0 - float(np.average(right.mean(axis=1), weights=rows.weights)) for right in (rows.baseline, rows.candidate)
    )
    bound = None
    if bounded:
        given = (rows.baseline, rows.candidate, rows.weights, rows.units)
        bound = noninferiority.share_bound(*given, alpha=alpha, seed=seed)
    return _loss(len(rows), first, second, second - first, bound)


def pr_areas(rows: Rows, alpha: float, seed: int, *, bounded: bool) -> Loss:
    """PR AUC. Readings: scores, higher for the second class."""
    if (reason := _one_class(rows)) is not None:
        return Loss(len(rows), reason=reason)
    labels = _labels(rows)
    first, second = (pr_auc.pr_auc(scores, labels, rows.weights) for scores in (rows.baseline, rows.candidate))
    bound = None
    if bounded:
        given = (rows.baseline, rows.candidate, labels, rows.weights, rows.units)
        bound = pr_auc.pr_auc_bound(*given, alpha=alpha, seed=seed)
    return _loss(len(rows), first, second, first - second, bound)


def second_f1(rows: Rows, alpha: float, seed: int, *, bounded: bool) -> Loss:
    """F1 of the second class. Readings: predicted class."""
    if (reason := _one_class(rows)) is not None:
        return Loss(len(rows), reason=reason)
    return _f1(rows, np.array([1]), alpha, seed, bounded)


def macro_f1(rows: Rows, alpha: float, seed: int, *, bounded: bool) -> Loss:
    """Mean F1 of the classes that have rows. Readings: predicted class; several labels: (n, k) decisions."""
    if rows.baseline.ndim == 2:
        return _label_f1(rows, "macro", alpha, seed, bounded)
    return _f1(rows, np.unique(_labels(rows)), alpha, seed, bounded)


def micro_f1(rows: Rows, alpha: float, seed: int, *, bounded: bool) -> Loss:
    """F1 of all decisions together. Readings: (n, k) decisions."""
    return _label_f1(rows, "micro", alpha, seed, bounded)


def mean_losses(rows: Rows, alpha: float, seed: int, *, bounded: bool) -> Loss:
    """Mean of a loss per row; the drop is a share of the baseline's."""
    return _ratio(rows, 1.0, alpha, seed, bounded)


def root_mean_losses(rows: Rows, alpha: float, seed: int, *, bounded: bool) -> Loss:
    """Root of the mean of a squared error per row; the drop is a share of the baseline's."""
    return _ratio(rows, 0.5, alpha, seed, bounded)


def queries(rows: Rows, alpha: float, seed: int, *, bounded: bool) -> Loss:
    """NDCG@10, mean over the queries that have a relevant item. Readings: scores."""
    assert rows.queries is not None
    names, before = ranking.ndcg_per_query(rows.baseline, _labels(rows), rows.queries)
    _, after = ranking.ndcg_per_query(rows.candidate, _labels(rows), rows.queries)
    n = len(names)
    if not n:
        return Loss(0, reason="no query has a relevant item")
    weights = None
    if rows.weights is not None:
        every, query = np.unique(rows.queries, return_inverse=True)
        mean_weight = np.bincount(query, rows.weights) / np.bincount(query)
        weights = mean_weight[np.searchsorted(every, names)]
        if weights.sum() <= 0:
            return Loss(n, reason="all queries have the weight 0")
    first, second = float(np.average(before, weights=weights)), float(np.average(after, weights=weights))
    bound = means.mean_bound(before - after, weights, alpha=alpha, seed=seed) if bounded and n >= 2 else None
    return _loss(n, first, second, first - second, bound)


# ---------------------------------------------------------------- inside
def _f1(rows: Rows, classes: np.ndarray, alpha: float, seed: int, bounded: bool) -> Loss:
    labels = _labels(rows)
    first, second = (
        float(f1.f1_scores(predicted, labels, rows.weights, int(classes.max()) + 1)[classes].mean())
        for predicted in (rows.baseline, rows.candidate)
    )
    bound = None
    if bounded:
        given = (rows.baseline, rows.candidate, labels, rows.weights, rows.units)
        bound = f1.f1_bound(*given, classes=classes, alpha=alpha, seed=seed)
    return _loss(len(rows), first, second, first - second, bound)


def _label_f1(rows: Rows, average: label_f1.Average, alpha: float, seed: int, bounded: bool) -> Loss:
    labels = _labels(rows)
    first, second = (
        label_f1.f1_of_labels(predicted, labels, rows.weights, average) for predicted in (rows.baseline, rows.candidate)
    )
    if first is None or second is None:
        return Loss(len(rows), reason="no row has a label")
    bound = None
    if bounded:
        given = (rows.baseline, rows.candidate, labels, rows.weights, rows.units)
        bound = label_f1.label_f1_bound(*given, average=average, alpha=alpha, seed=seed)
    return _loss(len(rows), first, second, first - second, bound)


def _ratio(rows: Rows, power: float, alpha: float, seed: int, bounded: bool) -> Loss:
    first, second = (
        float(np.average(losses, weights=rows.weights)) ** power for losses in (rows.baseline, rows.candidate)
    )
    if first == 0:
        if second == 0:
            return Loss(len(rows), 0.0, 0.0, 0.0, 0.0, 1.0)
        return Loss(len(rows), first, second, reason="the original has no error here, the candidate has")
    bound = None
    if bounded and rows.n_units >= 2:
        given = (rows.baseline, rows.candidate, rows.weights, rows.units)
        bound = means.ratio_bound(*given, power=power, alpha=alpha, seed=seed)
    return _loss(len(rows), first, second, second / first - 1, bound)


def _one_class(rows: Rows) -> str | None:
    labels = _labels(rows)
    counts = np.bincount(labels[rows.weights > 0] if rows.weights is not None else labels, minlength=2)
    return "only one class" if counts.min() == 0 else None


def _labels(rows: Rows) -> np.ndarray:
    assert rows.labels is not None
    return rows.labels


def _loss(n_units: int, before: float, after: float, drop: float, bound: means.Bound | None) -> Loss:
    if bound is None or not math.isfinite(bound.upper):
        return Loss(n_units, before, after, drop)
    return Loss(n_units, before, after, drop, bound.upper, bound.harm_p)
