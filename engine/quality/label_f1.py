"""F1 of several labels at once, of two models on the same rows, and the bootstrap bound of its drop.

Macro: the mean over the labels that have rows. Micro: one F1 of all decisions together, so that frequent labels count
more. A row is drawn whole, with all its labels, because they depend on each other.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import sparse

from engine.quality.means import Bound, sums_by_unit
from engine.quality.noninferiority import LEAST_DISCORDANT
from engine.quality.resampling import resampled_bound

Average = Literal["macro", "micro"]


def f1_of_labels(
    predicted: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, average: Average
) -> float | None:
    """F1 from (n, k) decisions and labels, both 0 or 1; None where no row has a label."""
    given = _given(predicted, predicted, labels)
    w = np.ones(len(labels)) if weights is None else weights
    sums = np.stack([w @ part for part in given])
    if average == "micro":
        sums = sums.sum(axis=1, keepdims=True)
    return float(_mean_f1(*sums[:3, None])[0]) if sums[2].any() else None


def label_f1_bound(
    baseline: np.ndarray,
    candidate: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray | None = None,
    units: np.ndarray | None = None,
    *,
    average: Average,
    alpha: float = 0.05,
    seed: int = 0,
) -> Bound:
    """Bound of the drop in F1, from (n, k) decisions of both models; some row has a label.

    One lost row of the rarest label is added before drawing: rows that were never lost can be, as in Clopper and
    Pearson's upper limit.
    """
    w = np.ones(len(labels)) if weights is None else weights
    rows = np.arange(len(labels)) if units is None else np.unique(units, return_inverse=True)[1]
    n_units = int(rows.max()) + 1
    of_unit = sparse.csr_matrix((w, (rows, np.arange(len(labels)))), shape=(n_units, len(labels)))
    parts = [of_unit @ sparse.csr_matrix(part.astype(np.float64)) for part in _given(baseline, candidate, labels)]
    n_of_label = np.asarray(parts[2].sum(axis=0)).ravel()
    rarest = int(np.argmin(np.where(n_of_label > 0, n_of_label, np.inf)))
    if average == "micro":
        parts, rarest = [sparse.csr_matrix(part.sum(axis=1)) for part in parts], 0
    table = sparse.hstack(parts).tocsr()
    changed = int((sums_by_unit(w * (baseline != candidate).any(axis=1), units) > 0).sum())
    lost = float(w.sum() / n_units) if changed < LEAST_DISCORDANT else float(w.mean())
    observed = float(_drops(np.asarray(table.sum(axis=0)))[0])
    table = sparse.vstack([table, _lost_row(table.shape[1], rarest, lost)]).tocsr()
    whole = float(_drops(np.asarray(table.sum(axis=0)))[0])
    return resampled_bound(
        lambda drawn: _drops((table.T @ drawn.T).T),
        np.zeros(table.shape[0], np.int64),
        observed,
        alpha,
        seed,
        shift=whole - observed,
    )


def _given(baseline: np.ndarray, candidate: np.ndarray, labels: np.ndarray) -> list[np.ndarray]:
    """(n, k) each: right and given by the baseline, given by it, has it, right and given by the candidate, given."""
    has = labels == 1
    return [baseline & has, baseline, has, candidate & has, candidate]


def _lost_row(n_columns: int, label: int, weight: float) -> sparse.csr_matrix:
    """A row with one label that only the baseline gives."""
    k = n_columns // 5
    row = np.zeros((1, n_columns))
    row[0, [label, k + label, 2 * k + label]] = weight
    return sparse.csr_matrix(row)


def _drops(sums: np.ndarray) -> np.ndarray:
    """(b,) drop in F1 from (b, 5 k) sums of what `_given` holds."""
    right, said, has, right_after, said_after = np.split(sums.astype(np.float64), 5, axis=1)
    drops: np.ndarray = _mean_f1(right, said, has) - _mean_f1(right_after, said_after, has)
    return drops


def _mean_f1(right: np.ndarray, said: np.ndarray, has: np.ndarray) -> np.ndarray:
    """(b,) mean over the labels that a row has, from (b, k) sums; 0 where a resample holds none."""
    f1 = np.where(has > 0, 2 * right / np.maximum(said + has, 1e-300), 0.0)
    mean: np.ndarray = f1.sum(axis=1) / np.maximum((has > 0).sum(axis=1), 1)
    return mean
