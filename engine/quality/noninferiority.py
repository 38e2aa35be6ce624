"""How large may the loss of a 0-1 score be? Tango's one-sided upper bound; positive is worse.

A test that finds "no significant difference" passes bad models whenever the rows are few. These bounds turn the
question round: a loss is excluded only when the rows exclude it. They hold for accuracy and every other share of right
rows or decisions, the recall of one class included.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize, stats

from engine.quality.means import Bound, mean_bound, sums_by_unit, variance_of_sum

LEAST_DISCORDANT = 20  # units with a changed answer from which their dependence can be estimated


def tango_z(n_lost: float, n_won: float, n: float, margin: float) -> float:
    """Score statistic of "the loss is `margin` or more"; it is refuted at 5 % where z <= -1.644854.

    n_lost: rows only the baseline answers rightly; n_won: the reverse. Tango (1998), Statistics in Medicine 17:891.
    """
    q = _tango_q(n_lost, n_won, n, margin)
    return (n_lost - n_won - n * margin) / math.sqrt(n * (2 * q + margin * (1 - margin)))


def tango_upper(n_lost: float, n_won: float, n: float, alpha: float = 0.05) -> float:
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


def share_bound(
    baseline: np.ndarray,
    candidate: np.ndarray,
    weights: np.ndarray | None = None,
    units: np.ndarray | None = None,
    *,
    alpha: float = 0.05,
    seed: int = 0,
) -> Bound:
    """Bound of the loss in the share of right answers. baseline, candidate: (n,) or (n, k) bool, right or not.

    With weights or groups Tango's bound at the effective number of rows, as Rao and Scott (1992), Biometrics 48:577, do
    for one share; with groups never below the bootstrap of whole groups, which alone has no width where no answer
    changed. Where fewer than 20 groups have a changed answer, dependence cannot be seen and a group counts as one row.
    The k answers of one row depend on each other: where no groups are given, the row is their group.
    """
    k = 1 if baseline.ndim == 1 else baseline.shape[1]
    if k > 1 and units is None:
        units = np.arange(len(baseline))
    lost, won = (_per_row(part) for part in (baseline & ~candidate, candidate & ~baseline))
    if weights is None and units is None:
        n_lost, n_won, n = float(lost.sum()), float(won.sum()), float(len(lost))
    else:
        w = np.ones(len(lost)) if weights is None else weights
        n = _effective_n(lost / k, won / k, w, units, most=baseline.size)
        n_lost, n_won = (float(np.average(part, weights=w)) / k * n for part in (lost, won))
    upper = tango_upper(n_lost, n_won, n, alpha)
    if units is not None:
        upper = max(upper, mean_bound(lost - won, weights, units, alpha=alpha, seed=seed).upper / k)
    return Bound(upper, _sign_p(n_lost, n_won))


def _per_row(answers: np.ndarray) -> np.ndarray:
    """(n,) how many of each row's answers are true."""
    counts: np.ndarray = answers.sum(axis=tuple(range(1, answers.ndim))).astype(float)
    return counts


def _effective_n(
    lost: np.ndarray, won: np.ndarray, weights: np.ndarray, units: np.ndarray | None, *, most: int
) -> float:
    """Independent answers that would vary as much as these. lost, won: (n,) share of each row's answers."""
    total = weights.sum()
    least = float(total**2 / (sums_by_unit(weights, units) ** 2).sum())
    drops, moved = lost - won, lost + won
    middle = np.average(drops, weights=weights)
    changed = int((sums_by_unit((moved > 0).astype(float) * (weights > 0), units) > 0).sum())
    variance = variance_of_sum(weights * (drops - middle) / total, units)
    if changed < LEAST_DISCORDANT or variance == 0:
        return least
    one_answer = float(np.average(moved, weights=weights) - middle**2)
    return float(np.clip(one_answer / variance, least, most))


def _sign_p(n_lost: float, n_won: float) -> float:
    """One-sided exact sign test (McNemar) of "nothing is lost", on whole numbers of effective rows."""
    lost, changed = math.floor(n_lost), math.ceil(n_lost + n_won)
    return float(stats.binom.sf(lost - 1, changed, 0.5)) if changed else 1.0


def rows_needed(
    discordance: float, margin: float, alpha: float = 0.05, power: float = 0.8, true_loss: float = 0.0
) -> int:
    """Rows after which a candidate that loses `true_loss` passes `margin` with this power.

    discordance: share of rows whose correctness changes either way. Unknown: take 0.02 for int8, 0.005 for fp16.
    """
    q = _tango_q((discordance + true_loss) / 2, (discordance - true_loss) / 2, 1, margin)
    spread = stats.norm.ppf(1 - alpha) * math.sqrt(2 * q + margin * (1 - margin))
    spread += stats.norm.ppf(power) * math.sqrt(discordance - true_loss**2)
    return math.ceil(float(spread) ** 2 / (margin - true_loss) ** 2)


def tango_chance(n: int, discordance: float, margin: float, alpha: float = 0.05) -> float:
    """How often n rows let a candidate that loses nothing pass `margin`: `rows_needed` solved for the power."""
    q = _tango_q(discordance / 2, discordance / 2, 1, margin)
    spread = stats.norm.ppf(1 - alpha) * math.sqrt(2 * q + margin * (1 - margin))
    return float(stats.norm.cdf((margin * math.sqrt(n) - spread) / math.sqrt(discordance)))
