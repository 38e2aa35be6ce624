"""Percentiles that know their sample floor, and what a handful of process pairs can say about a ratio."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from engine.records import Interval, SpeedVerdict

BAND = 0.03  # a smaller difference of two arms does not matter
QUANTILES = (0.5, 0.95, 0.99)
SAMPLE_FLOOR = {0.5: 1, 0.95: 100, 0.99: 500, 0.999: 5000}  # calls in all; below: no figure is shown
PAIR_FLOOR = {0.5: 1, 0.95: 20, 0.99: 100, 0.999: 1000}  # calls per pair; below, its quantile would be its maximum
MOST_PAIRS = 10_000  # "cannot tell" names no number above this


# ---------------------------------------------------------------- one sample
def nearest_rank(samples: np.ndarray, q: float) -> float:
    """The ⌈nq⌉-th smallest of (n,) samples: always one that was measured, never above the maximum."""
    ordered = np.sort(samples)
    return float(ordered[_rank(len(ordered), q) - 1])


def order_ranks(n: int, q: float, confidence: float = 0.95) -> tuple[int | None, int | None]:
    """1-based ranks that enclose the q-quantile of any distribution; None where n samples have no such bound.

    Binomial order statistics (Conover, Practical Nonparametric Statistics, 3.2). Calls of one process depend on each
    other, so this is an aid for reading one figure; comparisons use pairs.
    """
    tail = (1 - confidence) / 2
    low, high = int(stats.binom.ppf(tail, n, q)), int(stats.binom.ppf(1 - tail, n, q)) + 1
    return (low if low >= 1 else None), (high if high <= n else None)


def percentile(samples: np.ndarray, q: float) -> Interval | None:
    """Nearest-rank quantile of (n,) samples with its 95 % interval; None below the sample floor of q."""
    n = len(samples)
    if n < SAMPLE_FLOOR[q]:
        return None
    ordered = np.sort(samples)
    low, high = order_ranks(n, q)
    return Interval(
        value=float(ordered[_rank(n, q) - 1]),
        low=None if low is None else float(ordered[low - 1]),
        high=None if high is None else float(ordered[high - 1]),
    )


def smallest_n(q: float, *, two_sided: bool = False) -> int:
    """Samples from which the largest one bounds the q-quantile with 95 % confidence."""
    return math.ceil(math.log(0.025 if two_sided else 0.05) / math.log(q))


def _rank(n: int, q: float) -> int:
    return max(1, math.ceil(n * q - 1e-9))  # 0.07 * 100 is 7.000000000000001 in binary


# ---------------------------------------------------------------- pairs
@dataclass(frozen=True)
class Ratio:
    """Variant / baseline with its 95 % interval over pairs. half_width: of the interval of the log-ratio."""

    value: float
    low: float
    high: float
    half_width: float
    n_pairs: int


def pair_ratio(baseline: Sequence[float], variant: Sequence[float]) -> Ratio:
    """Mean log-ratio of P >= 2 pairs with its t interval; each is a figure of both arms in the same two processes."""
    logs = np.log(np.asarray(variant, float)) - np.log(np.asarray(baseline, float))
    n = len(logs)
    assert n >= 2, "one pair has no spread"
    middle = float(logs.mean())
    half = float(stats.t.ppf(0.975, n - 1) * logs.std(ddof=1) / math.sqrt(n))
    return Ratio(
        value=math.exp(middle), low=math.exp(middle - half), high=math.exp(middle + half), half_width=half, n_pairs=n
    )


def verdict(ratio: Ratio, band: float = BAND) -> SpeedVerdict:
    """Whether the whole interval lies below, above or inside 1/(1+band) .. 1+band."""
    if ratio.high < 1 / (1 + band):
        return "faster"
    if ratio.low > 1 + band:
        return "slower"
    if ratio.low >= 1 / (1 + band) and ratio.high <= 1 + band:
        return "no difference"
    return "cannot tell"


def pairs_needed(ratio: Ratio, band: float = BAND) -> int | None:
    """Pairs that would probably decide: P (half-width / distance of the ratio to the nearest edge of the band)².

    None where the verdict stands, or where the ratio lies so close to an edge that no sensible number would do.
    """
    if verdict(ratio, band) != "cannot tell":
        return None
    distance = abs(abs(math.log(ratio.value)) - math.log1p(band))
    if distance * math.sqrt(MOST_PAIRS / ratio.n_pairs) <= ratio.half_width:
        return None
    return max(ratio.n_pairs + 1, math.ceil(ratio.n_pairs * (ratio.half_width / distance) ** 2))


# ---------------------------------------------------------------- "the limit holds"
def early_stopping(n_over: int, q: float, tolerance: float = 0.0, confidence: float = 0.99) -> int:
    """Queries in all after which n_over of them above the limit still show that quantile q holds it.

    MLPerf LoadGen early stopping: n = h + t for the smallest h with I_{q-d}(h, t+1) <= 1 - c.
    """
    low, high = 1, 2

    def shown(h: int) -> bool:
        return bool(special.betainc(h, n_over + 1, q - tolerance) <= 1 - confidence)

    while not shown(high):
        low, high = high, high * 2
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if shown(middle) else (middle + 1, high)
    return high + n_over


def query_count(q: float, margin: float, confidence: float = 0.99) -> int:
    """Queries that estimate the share below the q-quantile to ± margin: ⌈z² q (1 - q) / margin²⌉ (MLPerf)."""
    z = stats.norm.ppf(0.5 + confidence / 2)
    return math.ceil(float(z) ** 2 * q * (1 - q) / margin**2)
