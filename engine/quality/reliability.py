"""How often answers of each confidence are right: a reliability diagram (Niculescu-Mizil and Caruana 2005)."""

from __future__ import annotations

import numpy as np
from scipy import stats

from engine.quality.answers import Answers, compare
from engine.records import OutputKind, Record, Signature, Task

N_BINS = 10


class ReliabilityBin(Record):
    """Rows whose most likely class has a confidence of low..high. right: share with its 95 % Wilson interval (1927)."""

    low: float
    high: float
    n_rows: int
    confidence: float
    right: float
    right_low: float
    right_high: float


def bins(confidence: np.ndarray, right: np.ndarray, n_bins: int = N_BINS) -> tuple[ReliabilityBin, ...]:
    """Bins of equal width that hold rows. confidence: (n,) probability of the most likely class; right: (n,) bool."""
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    place = np.clip((confidence * n_bins).astype(np.int64), 0, n_bins - 1)
    found = []
    for at in np.unique(place):
        inside = place == at
        n_rows, n_right = int(inside.sum()), int(right[inside].sum())
        interval = stats.binomtest(n_right, n_rows).proportion_ci(method="wilson")
        found.append(
            ReliabilityBin(
                low=float(edges[at]),
                high=float(edges[at + 1]),
                n_rows=n_rows,
                confidence=float(confidence[inside].mean()),
                right=n_right / n_rows,
                right_low=max(0.0, float(interval.low)),
                right_high=min(1.0, float(interval.high)),
            )
        )
    return tuple(found)


def reliability(
    baseline: np.ndarray, candidate: np.ndarray, labels: np.ndarray | None, signature: Signature
) -> tuple[tuple[ReliabilityBin, ...], tuple[ReliabilityBin, ...]] | None:
    """Of the original and of the candidate, on the labelled rows; None where a task has no confidence or no label.

    baseline, candidate: (n, ...) judged outputs; labels: (n,) class index, -1 where unknown.
    """
    task: Task = signature.task or "other"
    kind: OutputKind = signature.output_kind or "value"
    if labels is None or labels.ndim != 1 or task not in ("binary", "multiclass"):
        return None
    found = compare(baseline, candidate, labels, kind, task)
    known = labels >= 0
    before, after = _of(found.baseline, labels, known), _of(found.candidate, labels, known & found.finite)
    return None if before is None or after is None else (before, after)


def _of(answers: Answers, labels: np.ndarray, known: np.ndarray) -> tuple[ReliabilityBin, ...] | None:
    if answers.confidence is None or answers.predicted is None or not known.any():
        return None
    return bins(answers.confidence[known], answers.predicted[known] == labels[known])
