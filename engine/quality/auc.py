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
    w = np.ones(len(labels)) if weights is None else weights
    up, down = w[positive], w[~positive]
    placed = [_placements(scores[positive], up, scores[~positive], down) for scores in (baseline, candidate)]
    first, second = (float(np.average(of_positives, weights=up)) for of_positives, _ in placed)
    parts = [_residuals(placed[1][k] - placed[0][k], weights) for k, weights in ((0, up), (1, down))]
    if units is None:
        variance = sum(variance_of_sum(part, None) for part in parts)
    else:
        influence = np.empty(len(labels))
        influence[positive], influence[~positive] = parts
        variance = variance_of_sum(influence, units)
    return AucPair(baseline=first, candidate=second, difference=second - first, se=math.sqrt(variance))


def auc_bound(pair: AucPair, alpha: float = 0.05) -> Bound:
    """Bound of the loss in ROC AUC."""
    if pair.se == 0.0:
        return Bound(-pair.difference, 0.0 if pair.difference < 0 else 1.0)
    upper = float(stats.norm.ppf(1 - alpha)) * pair.se - pair.difference
    return Bound(min(1.0, upper), float(stats.norm.sf(-pair.difference / pair.se)))


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
