"""Does a converted or differently run model give the same answers? Asked before any number of it is shown."""

from __future__ import annotations

import numpy as np

from engine.errors import ParityFailed

# Allowed |difference| as a share of the largest |reference| of an output (at least 1): rounding of one precision.
TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2}


def check(reference: dict[str, np.ndarray], candidate: dict[str, np.ndarray], what: str) -> dict[str, float]:
    """Compare outputs row by row; returns the largest difference of each output.

    reference, candidate: output name -> (n, ...). NaN equals NaN. Raises ParityFailed naming the rows that differ.
    """
    largest: dict[str, float] = {}
    for name, right in reference.items():
        got = candidate.get(name)
        if got is None:
            raise ParityFailed(f"{what}: the output {name!r} is missing; it has {', '.join(sorted(candidate))}")
        if got.shape != right.shape:
            raise ParityFailed(f"{what}: output {name!r} has the shape {got.shape}, the original {right.shape}")
        if right.dtype.kind not in "fiub":
            differ = (right != got).reshape(len(right), -1).any(axis=1)
            allowed, worst = 0.0, float(differ.any())
        else:
            a, b = right.astype(np.float64), got.astype(np.float64)
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            with np.errstate(invalid="ignore"):
                gap = np.where(same, 0.0, np.abs(a - b))
            gap = np.where(np.isnan(gap), np.inf, gap)
            finite = np.abs(a[np.isfinite(a)])
            allowed = _tolerance(right.dtype, got.dtype) * max(1.0, float(finite.max(initial=0.0)))
            differ = (gap > allowed).reshape(len(right), -1).any(axis=1)
            worst = float(gap.max(initial=0.0))
        if differ.any():
            raise ParityFailed(
                f"{what} does not give the original's answers: {int(differ.sum()):,} of {len(right):,} rows differ, "
                f"by up to {worst:.3g} in output {name!r} (allowed {allowed:.1g}); it is not timed or offered"
            )
        largest[name] = worst
    return largest


def _tolerance(*dtypes: np.dtype) -> float:
    return max(TOLERANCE.get(dtype.name, 0.0) for dtype in dtypes)
