"""The loss in ROC AUC on the same rows, and its bound (DeLong, DeLong and Clarke-Pearson 1988, Biometrics 44:837)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from engine.quality.means import Bound, variance_of_sum


@dataclass(frozen=True)
class AucPair:
    """Two AUCs on the same rows. difference: candidate - baseline; se: its standard error."""

    baseline: float
    candidate: float
    difference: float
    se: float


def delong(
    labels: np.ndarray,
    baseline: np.ndarray,
    candidate: np.ndarray,
    weights: np.ndarray | None = None,
    units: np.ndarray | None = None,
) -> AucPair:
    """Paired comparison of two AUCs. labels: (n,) 0 or 1; scores: (n,).

    Placement values from sorted ranks (Sun and Xu 2014). Weights (n,) enter the placements and, squared, the variance.
    With units (n,) the influence of a unit's rows is summed first (Obuchowski 1997, Biometrics 53:567).
    """
    positive = labels == 1
    first, second, parts = _compared(positive, baseline, candidate, weights)
    if units is None:
        variance = sum(variance_of_sum(part, None) for part in parts)
    else:
        influence = np.empty(len(labels))
        influence[positive], influence[~positive] = parts
        variance = variance_of_sum(influence, units)
    return AucPair(baseline=first, candidate=second, difference=second - first, se=math.sqrt(variance))


def delong_macro(
    labels: np.ndarray,
    baseline: np.ndarray,
    candidate: np.ndarray,
    weights: np.ndarray | None = None,
    units: np.ndarray | None = None,
) -> AucPair | None:
    """Paired comparison of the mean AUC of several labels. labels: (n, k) 0 or 1; scores: (n, k).

    The mean goes over the labels that have rows of both kinds; None without any. What a row adds to the AUC of each
    label is summed before it is squared, so labels that depend on each other are counted as such; for one label it is
    `delong`.
    """
    pairs = []
    influence = np.zeros(len(labels))
    for at in has_both(labels, weights):
        positive = labels[:, at] == 1
        first, second, parts = _compared(positive, baseline[:, at], candidate[:, at], weights)
        pairs.append((first, second))
        for rows, part in zip((positive, ~positive), parts, strict=True):
            influence[rows] += part if units is not None else _widened(part)
    if not pairs:
        return None
    first, second = (float(value) for value in np.mean(pairs, axis=0))
    influence /= len(pairs)
    variance = float((influence**2).sum()) if units is None else variance_of_sum(influence, units)
    return AucPair(baseline=first, candidate=second, difference=second - first, se=math.sqrt(variance))


def has_both(labels: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Positions of the labels (n, k) that some rows have and others have not."""
    counted = labels if weights is None else labels[weights > 0]
    n_with = (counted == 1).sum(axis=0)
    return np.flatnonzero((n_with > 0) & (n_with < len(counted)))


def auc_bound(pair: AucPair, alpha: float = 0.05) -> Bound:
    """Bound of the loss in ROC AUC."""
    if pair.se == 0.0:
        return Bound(-pair.difference, 0.0 if pair.difference < 0 else 1.0)
    upper = float(stats.norm.ppf(1 - alpha)) * pair.se - pair.difference
    return Bound(min(1.0, upper), float(stats.norm.sf(-pair.difference / pair.se)))


def _widened(residuals: np.ndarray) -> np.ndarray:
    """Residuals whose squares sum to the unbiased variance of their sum; a single one says nothing of it."""
    n = len(residuals)
    return residuals * math.sqrt(n / (n - 1)) if n > 1 else np.full(1, math.inf)


def _compared(
    positive: np.ndarray, baseline: np.ndarray, candidate: np.ndarray, weights: np.ndarray | None
) -> tuple[float, float, list[np.ndarray]]:
    """Both AUCs, and what each positive and each negative row adds to their difference."""
    w = np.ones(len(positive)) if weights is None else weights
    up, down = w[positive], w[~positive]
    placed = [_placements(scores[positive], up, scores[~positive], down) for scores in (baseline, candidate)]
    first, second = (float(np.average(of_positives, weights=up)) for of_positives, _ in placed)
    return first, second, [_residuals(placed[1][k] - placed[0][k], w) for k, w in ((0, up), (1, down))]


def _residuals(gains: np.ndarray, weights: np.ndarray) -> np.ndarray:
    residuals: np.ndarray = weights * (gains - np.average(gains, weights=weights)) / weights.sum()
    return residuals


def _placements(
    up: np.ndarray, w_up: np.ndarray, down: np.ndarray, w_down: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Per positive the share of negatives below it, per negative the share of positives above it; ties count half."""
    return _share_below(up, down, w_down), 1.0 - _share_below(down, up, w_up)


def _share_below(values: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
    order = np.argsort(others, kind="stable")
    ordered, summed = others[order], np.r_[0.0, np.cumsum(weights[order])]
    below = summed[np.searchsorted(ordered, values, "left")]
    up_to = summed[np.searchsorted(ordered, values, "right")]
    share: np.ndarray = (below + up_to) / (2 * summed[-1])
    return share
