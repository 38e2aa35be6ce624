"""How far a candidate's answers are from the original's on the same rows. Needs no label, replaces no label test."""

from __future__ import annotations

import numpy as np

from engine.quality.metrics import predicted_classes
from engine.records import Agreement, Task

CLIP = 1e-12


def agreement(baseline: np.ndarray, candidate: np.ndarray, task: Task, *, identical: bool) -> Agreement:
    """Compare finite scores of the same rows, as `to_scores` gives them.

    |Δ| of a row is its largest over the columns. KL is of the class probabilities, baseline to candidate, in nats,
    clipped at 1e-12. identical: whether the raw outputs are equal bit for bit.
    """
    if not len(baseline):
        return Agreement(max_abs_diff=None, p99_abs_diff=None, identical=identical)
    gaps = np.abs(candidate.astype(np.float64) - baseline).reshape(len(baseline), -1).max(axis=1)
    classes = task in ("binary", "multiclass")
    kl = kl_per_row(baseline, candidate) if classes else None
    flipped = predicted_classes(baseline) != predicted_classes(candidate) if classes else None
    return Agreement(
        flip_fraction=None if flipped is None else float(flipped.mean()),
        max_abs_diff=float(gaps.max()),
        p99_abs_diff=float(np.quantile(gaps, 0.99, method="inverted_cdf")),
        mean_kl_nats=None if kl is None else float(kl.mean()),
        max_kl_nats=None if kl is None else float(kl.max()),
        identical=identical,
    )


def kl_per_row(baseline: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    """(n,) Kullback-Leibler divergence of class probabilities, baseline to candidate, in nats, never negative."""
    p, q = _distribution(baseline), _distribution(candidate)
    kl: np.ndarray = np.maximum(0.0, (p * (np.log(p) - np.log(q))).sum(axis=1))
    return kl


def _distribution(scores: np.ndarray) -> np.ndarray:
    columns = np.stack([1.0 - scores, scores], axis=1) if scores.ndim == 1 else scores
    clipped: np.ndarray = np.clip(columns, CLIP, None)
    clipped /= clipped.sum(axis=1, keepdims=True)
    return clipped
