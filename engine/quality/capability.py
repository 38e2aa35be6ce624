"""What a number of rows can show about a band (METHODS §2.3 and §2.5)."""

from __future__ import annotations

from engine.quality.noninferiority import rows_needed
from engine.quality.slices import n_min

MANY_ROWS = 3_000
CHANGED_FRACTION = 0.02  # rows whose correctness changes, assumed as for INT8 where no pilot was run


def capability(n_rows: int, delta: float) -> str:
    """What n_rows certification rows can and cannot show about a drop limit of delta, in two sentences."""
    if delta <= 0.0:
        return "With a drop limit of 0 only identical answers can be certified, whatever the number of rows"
    if delta >= 1.0:
        return "With a drop limit of 1 every variant is good enough; set a smaller one"
    least, good = n_min(delta), rows_needed(CHANGED_FRACTION, delta)
    assert least is not None
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
