"""Bootstrap bounds of metrics that are no mean over rows.

Rows are drawn again within each class, both models on the same rows; with groups, whole groups are drawn. The bound is
the percentile of 2,000 drops, and never below their t bound. Above 50,000 units, where drops are normal, 200 give their
spread and the t bound alone is taken.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.quality.means import CHUNK, N_REPLICATES, Bound, share_not_above_zero, t_bound

MANY_UNITS = 50_000
FEW_REPLICATES = 200


def resampled_bound(
    drops: Callable[[np.ndarray], np.ndarray],
    strata: np.ndarray,
    observed: float,
    alpha: float,
    seed: int,
    *,
    shift: float = 0.0,
    n_numbers: int | None = None,
) -> Bound:
    """From drops((b, n_units) times drawn) -> (b,); units are drawn within strata (n_units,)."""
    n, many = len(strata), len(strata) > MANY_UNITS
    n_replicates = FEW_REPLICATES if many else N_REPLICATES
    rng, step = np.random.default_rng(seed), max(1, CHUNK // (n_numbers or n))
    members = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    parts = []
    for start in range(0, n_replicates, step):
        drawn = np.empty((min(step, n_replicates - start), n), np.float32)
        for own in members:
            for one in drawn:
                one[own] = np.bincount(rng.integers(0, len(own), len(own)), minlength=len(own))
        parts.append(drops(drawn))
    found = np.concatenate(parts)
    by_t = t_bound(observed + shift, float(found.std(ddof=1)), n_replicates, alpha)
    return by_t if many else max(percentile_bound(found, observed, shift, alpha), by_t)


def percentile_bound(drops: np.ndarray, observed: float, shift: float, alpha: float) -> Bound:
    """shift: what the added lost row does to the drop; it counts in the bound, not as harm."""
    if observed == 0 and shift == 0 and not drops.any():
        return Bound(0.0, 1.0)
    upper = float(np.quantile(drops, 1 - alpha, method="inverted_cdf"))
    return Bound(max(upper, observed), share_not_above_zero(drops - shift))
