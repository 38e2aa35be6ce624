"""Expected calibration error of the most likely class (Guo et al. 2017), and how a candidate changes it.

The error is biased upwards at small n, so only its change on the same rows says something. Of several labels at once it
is that of each label's probability, averaged over the labels.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.quality.answers import Answers
from engine.quality.judged import Judged
from engine.records import Calibration, Interval

N_BINS = 15
N_REPLICATES = 500
MOST_ROWS = 50_000  # rows (× labels) of the bootstrap: a seeded sample of more would only make the interval narrower
LEAST_ROWS = 2_000


def ece(confidence: np.ndarray, right: np.ndarray, weights: np.ndarray | None = None, n_bins: int = N_BINS) -> float:
    """Bins of equal width over 0..1. confidence: (n,) probability of the most likely class; right: (n,) bool."""
    return _error(_bins_of_width(confidence, n_bins), confidence, right, weights, n_bins)


def ece_equal_mass(
    confidence: np.ndarray, right: np.ndarray, weights: np.ndarray | None = None, n_bins: int = N_BINS
) -> float:
    """Bins with equally many rows; rows of equal confidence stay in one bin."""
    order = np.argsort(confidence, kind="stable")
    edges = confidence[order][np.arange(1, n_bins) * len(order) // n_bins]
    return _error(np.searchsorted(np.unique(edges), confidence, side="right"), confidence, right, weights, n_bins)


def calibration(judged: Judged, seed: int = 0) -> Calibration | None:
    """Both errors of both models, and the change with a 95 % interval; None where a task has no confidence."""
    found = [_confidences(answers, judged.labels) for answers in (judged.baseline, judged.candidate)]
    parts = [part for part in found if part is not None]
    if len(parts) < len(found):
        return None
    width, mass = ([_mean(measure, *part, judged.weights) for part in parts] for measure in (ece, ece_equal_mass))
    low, high = np.quantile(_changes(parts, judged, seed), (0.025, 0.975))
    change = width[1] - width[0]
    return Calibration(
        n_bins=N_BINS,
        equal_width=(width[0], width[1]),
        equal_mass=(mass[0], mass[1]),
        change=Interval(value=change, low=min(float(low), change), high=max(float(high), change)),
    )


def label_errors(judged: Judged) -> tuple[float, float]:
    """Of one label of several: how far its probability is from the share of rows that have it, for both models."""
    before, after = (
        ece(answers.score, judged.labels == 1, judged.weights)
        for answers in (judged.baseline, judged.candidate)
        if answers.score is not None
    )
    return before, after


def _confidences(answers: Answers, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(n, 1) confidence in the most likely class, and whether it is right; of several labels (n, k), each by itself."""
    if labels.ndim == 2:
        return None if answers.score is None else (answers.score, labels == 1)
    if answers.confidence is None or answers.predicted is None:
        return None
    return answers.confidence[:, None], (answers.predicted == labels)[:, None]


def _mean(
    measure: Callable[..., float], confidence: np.ndarray, right: np.ndarray, weights: np.ndarray | None
) -> float:
    return float(np.mean([measure(confidence[:, at], right[:, at], weights) for at in range(right.shape[1])]))


def _changes(parts: list[tuple[np.ndarray, np.ndarray]], judged: Judged, seed: int) -> np.ndarray:
    """(N_REPLICATES,) change of the error on rows (groups) drawn again, as sums per bin."""
    rng = np.random.default_rng(seed)
    n, k = parts[0][0].shape
    most = max(LEAST_ROWS, MOST_ROWS // k)
    rows = np.arange(n) if n <= most else rng.choice(n, most, replace=False)
    weights = np.ones(len(rows)) if judged.weights is None else judged.weights[rows]
    unit = np.arange(len(rows)) if judged.units is None else np.unique(judged.units[rows], return_inverse=True)[1]
    errors = [weights[:, None] * (confidence[rows] - right[rows]) for confidence, right in parts]
    bins = [(_bins_of_width(confidence[rows], N_BINS) + N_BINS * np.arange(k)).ravel() for confidence, _ in parts]
    changes = np.empty(N_REPLICATES)
    for at in range(N_REPLICATES):
        n_units = int(unit[-1]) + 1 if judged.units is None else int(unit.max()) + 1
        drawn = np.bincount(rng.integers(0, n_units, n_units), minlength=n_units)[unit]
        total = max(float((drawn * weights).sum()), 1e-300) * k
        both = [
            np.abs(np.bincount(b, (drawn[:, None] * e).ravel(), N_BINS * k)).sum() / total
            for b, e in zip(bins, errors, strict=True)
        ]
        changes[at] = both[1] - both[0]
    return changes


def _bins_of_width(confidence: np.ndarray, n_bins: int) -> np.ndarray:
    bins: np.ndarray = np.clip((confidence * n_bins).astype(np.int64), 0, n_bins - 1)
    return bins


def _error(
    bins: np.ndarray, confidence: np.ndarray, right: np.ndarray, weights: np.ndarray | None, n_bins: int
) -> float:
    w = np.ones(len(confidence)) if weights is None else weights
    return float(np.abs(np.bincount(bins, w * (confidence - right), n_bins)).sum() / w.sum())
