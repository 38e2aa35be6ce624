"""How large may the loss be? One-sided upper bounds of a paired drop; positive is worse.

A test that finds "no significant difference" passes bad models whenever the rows are few. These bounds turn the
question round: a loss is excluded only when the rows exclude it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

N_REPLICATES = 2000
LARGE_N = 5000  # from here on the mean is normal enough for its t interval
CHUNK = 4_000_000


# ---------------------------------------------------------------- accuracy and every other 0-1 row score
def tango_z(n_lost: int, n_won: int, n: int, margin: float) -> float:
    """Score statistic of "the loss is `margin` or more"; it is refuted at 5 % where z <= -1.644854.

    n_lost: rows only the baseline answers rightly; n_won: the reverse. Tango (1998), Statistics in Medicine 17:891.
    """
    q = _tango_q(n_lost, n_won, n, margin)
    return (n_lost - n_won - n * margin) / math.sqrt(n * (2 * q + margin * (1 - margin)))


def tango_upper(n_lost: int, n_won: int, n: int, alpha: float = 0.05) -> float:
    """Upper 1 - alpha bound of the loss in accuracy: the margin that is just refuted."""
    z = float(stats.norm.ppf(1 - alpha))
    estimate = (n_lost - n_won) / n
    if estimate >= 1.0:
        return 1.0
    low = max(estimate, 0.0) + 1e-12 if n_lost == n_won == 0 else estimate + 1e-12
    return float(optimize.brentq(lambda margin: tango_z(n_lost, n_won, n, margin) + z, low, 1 - 1e-12))


def _tango_q(n_lost: float, n_won: float, n: float, margin: float) -> float:
    a, c = 2 * n, -n_won * margin * (1 - margin)
    b = -n_lost - n_won + (2 * n - n_lost + n_won) * margin
    return (math.sqrt(b * b - 4 * a * c) - b) / (2 * a)


def rows_needed(discordance: float, margin: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """Rows after which a candidate without any loss passes `margin` with this power.

    discordance: share of rows whose correctness changes either way. Unknown: take 0.02 for int8, 0.005 for fp16.
    """
    q = _tango_q(discordance / 2, discordance / 2, 1, margin)
    spread = stats.norm.ppf(1 - alpha) * math.sqrt(2 * q + margin * (1 - margin))
    spread += stats.norm.ppf(power) * math.sqrt(discordance)
    return math.ceil(float(spread) ** 2 / margin**2)


# ---------------------------------------------------------------- ROC AUC
@dataclass(frozen=True)
class AucPair:
    """Two AUCs on the same rows. difference: candidate - baseline; se: its standard error."""

    baseline: float
    candidate: float
    difference: float
    se: float


def delong(
    labels: np.ndarray, baseline: np.ndarray, candidate: np.ndarray, weights: np.ndarray | None = None
) -> AucPair:
    """Paired comparison of two AUCs. labels: (n,) 0 or 1; scores: (n,).

    DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44:837, with placement values from sorted ranks (Sun and Xu
    2014). Weights (n,) enter the placements and, squared, the variance.
    """
    positive = labels == 1
    w = np.ones(len(labels)) if weights is None else weights
    up, down = w[positive], w[~positive]
    placed = [_placements(scores[positive], up, scores[~positive], down) for scores in (baseline, candidate)]
    first, second = (float(np.average(of_positives, weights=up)) for of_positives, _ in placed)
    gain_positive, gain_negative = placed[1][0] - placed[0][0], placed[1][1] - placed[0][1]
    variance = _variance_of_mean(gain_positive, up) + _variance_of_mean(gain_negative, down)
    return AucPair(baseline=first, candidate=second, difference=second - first, se=math.sqrt(variance))


def auc_upper(
    labels: np.ndarray,
    baseline: np.ndarray,
    candidate: np.ndarray,
    weights: np.ndarray | None = None,
    alpha: float = 0.05,
) -> float:
    """Upper 1 - alpha bound of the loss in ROC AUC."""
    pair = delong(labels, baseline, candidate, weights)
    return min(1.0, float(stats.norm.ppf(1 - alpha)) * pair.se - pair.difference)


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


def _variance_of_mean(values: np.ndarray, weights: np.ndarray) -> float:
    """Variance of a weighted mean (linearised; with equal weights the usual s²/n)."""
    n = len(values)
    residual = weights * (values - np.average(values, weights=weights))
    return float((residual**2).sum() / weights.sum() ** 2 * n / (n - 1))


# ---------------------------------------------------------------- means, and roots of means
def mean_upper(drops: np.ndarray, weights: np.ndarray | None = None, alpha: float = 0.05, seed: int = 0) -> float:
    """Upper 1 - alpha bound of the mean of (n,) paired drops, n >= 2.

    From 5,000 on, and with weights, the t interval; below, the BCa bootstrap (Efron 1987) with the mean's closed-form
    acceleration Σd³ / (6 (Σd²)^1.5).
    """
    n = len(drops)
    middle = float(np.average(drops, weights=weights))
    if n >= LARGE_N or weights is not None:
        se = math.sqrt(_variance_of_mean(drops, np.ones(n) if weights is None else weights))
        return middle + float(stats.t.ppf(1 - alpha, n - 1)) * se
    replicates = _bootstrap_means(drops[:, None], np.ones(n), seed)[:, 0]
    return bca_upper(replicates, middle, drops - middle, alpha)


def rmse_upper(
    baseline_error2: np.ndarray,
    candidate_error2: np.ndarray,
    weights: np.ndarray | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> float:
    """Upper 1 - alpha bound of RMSE(candidate) / RMSE(baseline) - 1, from (n,) squared errors of the same rows.

    Below 5,000 rows the BCa bootstrap of both on the same rows; from there on the delta method, its limit.
    The baseline must have errors; infinity where resamples have none.
    """
    n = len(baseline_error2)
    w = np.ones(n) if weights is None else weights
    a, b = np.average(baseline_error2, weights=w), np.average(candidate_error2, weights=w)
    ratio = math.sqrt(b / a)
    influence = (ratio / 2) * (candidate_error2 / b - baseline_error2 / a) if b > 0 else np.zeros(n)
    if n >= LARGE_N:
        return ratio - 1 + float(stats.t.ppf(1 - alpha, n - 1)) * math.sqrt(_variance_of_mean(influence, w))
    means = _bootstrap_means(np.stack([baseline_error2, candidate_error2], axis=1), w, seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        replicates = np.nan_to_num(np.sqrt(means[:, 1] / means[:, 0]) - 1, nan=0.0, posinf=np.inf)
    return bca_upper(replicates, ratio - 1, w * influence, alpha)


def bca_upper(replicates: np.ndarray, observed: float, influence: np.ndarray, alpha: float) -> float:
    """Upper 1 - alpha bound from bootstrap replicates: bias-corrected and accelerated (Efron 1987).

    influence: (n,) what each row adds to the statistic, up to a factor; its skewness is the acceleration.
    """
    size = float((influence**2).sum())
    if size == 0.0:
        return observed
    acceleration = float((influence**3).sum()) / (6 * size**1.5)
    share = float(((replicates < observed).mean() + (replicates <= observed).mean()) / 2)
    bias = float(stats.norm.ppf(min(max(share, 1 / len(replicates)), 1 - 1 / len(replicates))))
    z = bias + float(stats.norm.ppf(1 - alpha))
    return float(np.quantile(replicates, stats.norm.cdf(bias + z / (1 - acceleration * z)), method="inverted_cdf"))


def _bootstrap_means(columns: np.ndarray, weights: np.ndarray, seed: int) -> np.ndarray:
    """(N_REPLICATES, k) weighted means of (n, k) columns over rows drawn with replacement."""
    n, rng = len(columns), np.random.default_rng(seed)
    weighted = columns * weights[:, None]
    step = max(1, CHUNK // n)
    parts = []
    for start in range(0, N_REPLICATES, step):
        drawn = rng.integers(0, n, (min(step, N_REPLICATES - start), n))
        total = np.maximum(weights[drawn].sum(axis=1), 1e-300)
        parts.append(np.stack([weighted[drawn, k].sum(axis=1) / total for k in range(columns.shape[1])], axis=1))
    return np.concatenate(parts)
