"""How many rows it takes: before a study, for a band; after a certificate that could not tell, for the rest.

Before a study nothing is known of its variants. What is assumed is how many answers change (2 % as for INT8, unless
another share is given) and that nothing is lost by it. Only for counts of right rows and for ROC AUC does that say how
widely the loss will scatter; for every other metric the first variants have to show it.
"""

from __future__ import annotations

import math

from scipy import stats

from engine.quality.loss import Loss
from engine.quality.noninferiority import rows_needed, tango_chance
from engine.quality.slices import EXACT_COUNTS, LEAST_PER_CLASS, least_rows
from engine.records import Metric

POWER = 0.8
CHANGED_FRACTION = 0.02  # rows whose correctness changes: as for INT8, where no pilot was run
TYPICAL_AUC = 0.8
WIDEST = 0.5  # no band is looked for beyond a loss of this much


def rows_for_band(
    margin: float, *, changed: float = CHANGED_FRACTION, alpha: float = 0.05, power: float = POWER
) -> str:
    """In a sentence: "for a 0.5-point band you need about 5,100 rows (…)".

    changed: share of rows whose correctness changes either way.
    """
    if margin <= 0:
        return "a band of 0 is met only by identical answers, whatever the number of rows"
    n = rounded(rows_needed(changed, margin, alpha, power))
    return (
        f"for a {margin * 100:g}-point band you need about {n:,} rows (where {changed:.1%} of the answers change and "
        f"nothing is lost, they certify {_times(power)})"
    )


def rows_to_decide(
    metric: Metric, margin: float, alpha: float, *, changed: float = CHANGED_FRACTION, rarer_fraction: float = 0.5
) -> int | None:
    """Certification rows with which a variant that loses nothing is certified four times out of five.

    rarer_fraction: share of the rarer of two classes, for ROC AUC. None: no number of rows, or not known beforehand.
    """
    least = least_rows(metric, margin, alpha)
    if least is None:
        return None
    if metric in EXACT_COUNTS:
        return max(least, rows_needed(changed, margin, alpha, POWER))
    if metric == "roc_auc" and rarer_fraction > 0:
        z = float(stats.norm.ppf(1 - alpha) + stats.norm.ppf(POWER))
        by_spread = (z * auc_spread(changed, rarer_fraction) / margin) ** 2
        return max(least, math.ceil(by_spread), math.ceil(LEAST_PER_CLASS / rarer_fraction))
    return None


def chance(
    metric: Metric,
    n_rows: int,
    margin: float,
    alpha: float,
    *,
    changed: float = CHANGED_FRACTION,
    rarer_fraction: float = 0.5,
) -> float | None:
    """How often so many rows certify a variant that loses nothing, 0..1; None where that is not known beforehand."""
    least = least_rows(metric, margin, alpha)
    if metric not in EXACT_COUNTS and (metric != "roc_auc" or rarer_fraction <= 0):
        return None
    if least is None or n_rows < least:
        return 0.0
    if metric in EXACT_COUNTS:
        return tango_chance(n_rows, changed, margin, alpha)
    if n_rows * rarer_fraction < LEAST_PER_CLASS:
        return 0.0
    reach = margin * math.sqrt(n_rows) / auc_spread(changed, rarer_fraction)
    return float(stats.norm.cdf(reach - stats.norm.ppf(1 - alpha)))


def smallest_band(
    metric: Metric, n_rows: int, alpha: float, *, changed: float = CHANGED_FRACTION, rarer_fraction: float = 0.5
) -> float | None:
    """The smallest drop limit for which so many rows decide four times out of five; None: none, or not known."""

    def enough(margin: float) -> bool:
        needed = rows_to_decide(metric, margin, alpha, changed=changed, rarer_fraction=rarer_fraction)
        return needed is not None and needed <= n_rows

    low, high = 0.0, WIDEST
    if not enough(high):
        return None
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if middle > 0 and enough(middle) else (middle, high)
    return high


def auc_spread(changed: float, rarer_fraction: float) -> float:
    """√n times the standard error of a difference of two AUCs on the same n rows, where `changed` answers change.

    Two normal scores of AUC 0.8, the second the first plus noise that moves this share of the answers across the
    middle; the placements that DeLong's variance is made of (see auc.py) are taken linear in the noise.
    """
    apart = math.sqrt(2) * float(stats.norm.ppf(TYPICAL_AUC))
    mix = rarer_fraction * (1 - rarer_fraction)
    noise = (1 + mix * apart**2) * math.tan(math.pi * changed) ** 2
    steepness = math.exp(-(apart**2) / 3) / (
        2 * math.pi * math.sqrt(3)
    )  # mean squared density of one class at the other
    return math.sqrt(steepness * noise / mix)


def more_needed(found: Loss, limit: float, alpha: float, changed: float | None = None) -> int | None:
    """About how many more rows (queries) let a bound clear the limit in four of five cases; None: hardly ever.

    Assumes that the true drop is the one measured. changed: share of rows whose correctness changes, for accuracy.
    """
    assert found.drop is not None
    assert found.bound is not None
    room = limit - found.drop
    if room <= 0:
        return None
    if changed is not None:
        total = float(rows_needed(changed, limit, alpha, POWER, true_loss=found.drop))
    else:
        z = stats.norm.ppf(1 - alpha)
        total = found.n_units * ((found.bound - found.drop) / room * (1 + stats.norm.ppf(POWER) / z)) ** 2
    return rounded(max(1.0, total - found.n_units)) if total < 1e12 else None


def rounded(n: float) -> int:
    """To two figures, upwards from the middle: 5,131 -> 5,100."""
    if n < 10:
        return math.ceil(n)
    step = 10 ** (math.floor(math.log10(n)) - 1)
    return int(round(n / step) * step)


def _times(power: float) -> str:
    return "four times out of five" if power == POWER else f"in {power:.0%} of the cases"
