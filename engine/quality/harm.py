"""Claims that something got worse: many of them at once need a correction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Step-down corrected p values (Holm 1979): all claims below 0.05 hold together in 95 % of the cases."""
    p = np.asarray(p_values, float)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1.0, stepped)
    return [float(value) for value in corrected]
