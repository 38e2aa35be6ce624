"""What a number of rows can show about a band (METHODS §2.3 and §2.5)."""

from __future__ import annotations

import math
from statistics import NormalDist

MANY_ROWS = 3_000
ALPHA = 0.05
CHANGED_FRACTION = 0.02  # rows whose correctness changes, assumed as for INT8 where no pilot was run


def least_rows(delta: float, alpha: float = ALPHA) -> int:
    """Rows from which no lost row at all rules out a loss of delta: ⌈ln α / ln(1 − δ)⌉."""
    return math.ceil(math.log(alpha) / math.log1p(-delta))


def rows_for_power(delta: float, changed: float = CHANGED_FRACTION, power: float = 0.8, alpha: float = ALPHA) -> int:
    """Rows with which a variant without any true loss passes with that probability.

    n = ⌈(z_α √v₀ + z_β √ψ)² / δ²⌉ with v₀ = 2q + δ(1 − δ), and q from the quadratic of Tango (1998) at b = c = ψ/2.
    """
    b = 2.0 * delta - changed
    q = (math.sqrt(b * b + 4.0 * changed * delta * (1.0 - delta)) - b) / 4.0
    z = NormalDist().inv_cdf
    root = z(1.0 - alpha) * math.sqrt(2.0 * q + delta * (1.0 - delta)) + z(power) * math.sqrt(changed)
    return math.ceil(root * root / delta**2)


def capability(n_rows: int, delta: float) -> str:
    """What n_rows certification rows can and cannot show about a drop limit of delta, in two sentences."""
    if delta <= 0.0:
        return "With a drop limit of 0 only identical answers can be certified, whatever the number of rows"
    if delta >= 1.0:
        return "With a drop limit of 1 every variant is good enough; set a smaller one"
    least, good = least_rows(delta), rows_for_power(delta)
    limit = f"a drop limit of {delta:g}"
    if n_rows < least:
        return (
            f"{n_rows:,} certification rows cannot certify {limit}: even without one lost row a larger loss is not "
            f"ruled out. {least:,} rows are the least, {good:,} decide four times out of five when 2 % of the answers "
            "change"
        )
    if n_rows < good:
        return (
            f"{n_rows:,} certification rows certify {limit} only for variants that change few answers. "
            f"{good:,} rows decide four times out of five when 2 % of the answers change"
        )
    return (
        f"{n_rows:,} certification rows are enough for {limit}: {good:,} decide four times out of five when 2 % of the "
        f"answers change. A slice needs {least:,} rows of its own"
    )
