"""Repetitions as one cell of a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def cell(values: Sequence[float], unit: str, digits: int = 3) -> str:
    """`12.3 (11.9 to 14.0) ms`: median, 5th and 95th percentile."""
    low, middle, high = np.percentile(values, [5, 50, 95])
    return f"{middle:.{digits}g} ({low:.{digits}g} to {high:.{digits}g}) {unit}".rstrip()
