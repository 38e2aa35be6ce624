"""How many rows it takes: before a study, for a band; after a certificate that could not tell, for the rest."""

from __future__ import annotations

import math

from scipy import stats

from engine.quality.loss import Loss
from engine.quality.noninferiority import rows_needed

POWER = 0.8
CHANGED_FRACTION = 0.02  # rows whose correctness changes: as for INT8, where no pilot was run


def rows_for_band(
    margin: float, *, changed: float = CHANGED_FRACTION, alpha: float = 0.05, power: float = POWER
) -> str:
    """In a sentence: "for a 0.5-point band you need about 5,100 rows (…)".

    changed: share of rows whose correctness changes either way.
    """
    if margin <= 0:
        return "a band of 0 is met only by identical answers, whatever the number of rows"
    n = _rounded(rows_needed(changed, margin, alpha, power))
    return (
        f"for a {margin * 100:g}-point band you need about {n:,} rows (where {changed:.1%} of the answers change and "
        f"nothing is lost, they certify {_times(power)})"
    )


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
    return _rounded(max(1.0, total - found.n_units)) if total < 1e12 else None


def _rounded(n: float) -> int:
    """To two figures, upwards from the middle: 5,131 -> 5,100."""
    if n < 10:
        return math.ceil(n)
    step = 10 ** (math.floor(math.log10(n)) - 1)
    return int(round(n / step) * step)


def _times(power: float) -> str:
    return "four times out of five" if power == POWER else f"in {power:.0%} of the cases"
