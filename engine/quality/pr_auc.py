"""PR AUC of two models on the same rows, and the bootstrap bound of its drop."""

from __future__ import annotations

import numpy as np

from engine.quality.means import Bound
from engine.quality.resampling import resampled_bound


def pr_auc(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Average precision (the area under the precision-recall steps). labels: (n,) 0 or 1, a 1 among them."""
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(labels, scores, sample_weight=weights))


def pr_auc_bound(
    baseline: np.ndarray,
    candidate: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray | None = None,
    units: np.ndarray | None = None,
    *,
    alpha: float = 0.05,
    seed: int = 0,
) -> Bound:
    """Bound of the drop in PR AUC, from (n,) scores of both models."""
    w = np.ones(len(labels)) if weights is None else weights
    steps = [_Steps(scores, labels, w) for scores in (baseline, candidate)]
    unit = None if units is None else np.unique(units, return_inverse=True)[1]
    strata = labels if unit is None else np.zeros(int(unit.max()) + 1, np.int64)

    def drops(drawn: np.ndarray) -> np.ndarray:
        rows = drawn if unit is None else drawn[:, unit]
        lost: np.ndarray = steps[0].area(rows) - steps[1].area(rows)
        return lost

    observed = float(drops(np.ones((1, len(strata)), np.float32))[0])
    return resampled_bound(drops, strata, observed, alpha, seed, n_numbers=len(labels))


class _Steps:
    """Rows of one model by falling score, ready to be weighed again and again."""

    def __init__(self, scores: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> None:
        self.order = np.argsort(-scores, kind="stable")
        self.ends = np.flatnonzero(np.r_[np.diff(scores[self.order]) != 0, True])  # last row of each tie
        self.weights = weights[self.order]
        self.positive = (labels == 1)[self.order] * self.weights

    def area(self, drawn: np.ndarray) -> np.ndarray:
        """(b,) average precision with (b, n) further weights."""
        rows = drawn[:, self.order]
        found = np.cumsum(rows * self.positive, axis=1, dtype=np.float64)[:, self.ends]
        seen = np.cumsum(rows * self.weights, axis=1, dtype=np.float64)[:, self.ends]
        gained = np.diff(found, axis=1, prepend=0.0)
        area: np.ndarray = (gained * found / np.maximum(seen, 1e-300)).sum(axis=1) / np.maximum(found[:, -1], 1e-300)
        return area
