"""How far a candidate's answers are from the original's on the same rows. Needs no label, replaces no label test."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.quality.answers import Compared
from engine.records import Agreement


def agreement(found: Compared, labels: np.ndarray | None) -> Agreement:
    """Over the rows where the candidate has an answer. labels: (n,) class index, -1 unknown, or None.

    Several labels, (n, k): every one is a decision of its own, and flips are shares of decisions.
    """
    fine = found.finite
    if not fine.any():
        return Agreement(max_abs_diff=None, p99_abs_diff=None, identical=found.identical)
    gap = found.gap[fine]
    kl, js, overlap = (_of(values, fine) for values in (found.kl, found.js, found.top_k_overlap))
    return Agreement(
        **_flips(found, labels),
        max_abs_diff=float(gap.max()),
        p99_abs_diff=float(np.quantile(gap, 0.99, method="inverted_cdf")),
        mean_kl_nats=None if kl is None else float(kl.mean()),
        max_kl_nats=None if kl is None else float(kl.max()),
        mean_js_nats=None if js is None else float(js.mean()),
        top_k=found.top_k,
        top_k_overlap=None if overlap is None else float(overlap.mean()),
        identical=found.identical,
    )


def _of(values: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if values is None else values[rows]


def _flips(found: Compared, labels: np.ndarray | None) -> dict[str, Any]:
    """Churn: all flips; of the labelled rows also those that were lost and those that were won."""
    before, after = found.baseline.predicted, found.candidate.predicted
    if before is None or after is None:
        return {}
    changed = (before != after)[found.finite]
    flips: dict[str, Any] = {"flip_fraction": float(changed.mean())}
    if changed.ndim == 2:
        flips |= {"row_flip_fraction": float(changed.any(axis=1).mean()), "n_labels": changed.shape[1]}
    known = np.zeros(0, bool)
    if labels is not None:
        known = found.finite & (labels >= 0 if labels.ndim == 1 else (labels >= 0).all(axis=1))
    if known.any():
        right_before, right_after = (before == labels)[known], (after == labels)[known]
        flips["bad_flip_fraction"] = float((right_before & ~right_after).mean())
        flips["good_flip_fraction"] = float((right_after & ~right_before).mean())
    return flips
