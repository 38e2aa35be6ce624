"""F1 of two models on the same rows, and the bootstrap bound of its drop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from engine.quality.means import CHUNK, N_REPLICATES, Bound, sums_by_unit
from engine.quality.noninferiority import LEAST_DISCORDANT
from engine.quality.resampling import percentile_bound, resampled_bound


def f1_scores(predicted: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, n_classes: int) -> np.ndarray:
    """(n_classes,) F1 of each class; NaN for a class without rows."""
    w = np.ones(len(labels)) if weights is None else weights
    right = np.bincount(labels, w * (predicted == labels), n_classes)
    said = np.bincount(predicted, w, n_classes)[:n_classes]
    of_class = np.bincount(labels, w, n_classes)
    return _f1(right, said, of_class, of_class > 0)


def f1_bound(
    baseline: np.ndarray,
    candidate: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray | None = None,
    units: np.ndarray | None = None,
    *,
    classes: np.ndarray,
    alpha: float = 0.05,
    seed: int = 0,
) -> Bound:
    """Bound of the drop in the mean F1 of `classes`, from (n,) predicted classes of both models. classes: sorted.

    Without weights and groups it is exact to draw how often each (label, first, second) occurs. One lost row of the
    rarest class is added before drawing: rows that were never lost can be, as in Clopper and Pearson's upper limit.
    """
    rarest = int(classes[np.argmin(np.bincount(labels, minlength=int(classes.max()) + 1)[classes])])
    if weights is None and units is None:
        cells, counts = np.unique(np.stack([labels, baseline, candidate], axis=1), axis=0, return_counts=True)
        observed = float(_drops(counts[None, :].astype(float), cells, classes)[0])
        cells, counts = _with_lost(cells, counts.astype(float), rarest, 1.0)
        whole = float(_drops(counts[None, :], cells, classes)[0])
        drops = [_drops(drawn, cells, classes) for drawn in _cell_draws(counts, cells[:, 0], seed)]
        return percentile_bound(np.concatenate(drops), observed, whole - observed, alpha)
    return _unit_f1_bound(baseline, candidate, labels, weights, units, classes, rarest, alpha, seed)


def _unit_f1_bound(
    baseline: np.ndarray,
    candidate: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray | None,
    units: np.ndarray | None,
    classes: np.ndarray,
    rarest: int,
    alpha: float,
    seed: int,
) -> Bound:
    """Rows with weights, or groups: (units, cells) weights are drawn unit by unit."""
    w = np.ones(len(labels)) if weights is None else weights
    rows = np.arange(len(labels)) if units is None else np.unique(units, return_inverse=True)[1]
    cells, cell = np.unique(np.stack([labels, baseline, candidate], axis=1), axis=0, return_inverse=True)
    table = sparse.csr_matrix((w, (rows, cell.ravel())), shape=(int(rows.max()) + 1, len(cells)))
    changed = int((sums_by_unit(w * (baseline != candidate), units) > 0).sum())
    lost = float(w.sum() / table.shape[0]) if changed < LEAST_DISCORDANT else float(w.mean())
    observed = float(_drops(np.asarray(table.sum(axis=0)), cells, classes)[0])
    cells, extra = _with_lost(cells, np.zeros(len(cells)), rarest, lost)
    table.resize(table.shape[0], len(cells))
    table = sparse.vstack([table, sparse.csr_matrix(extra[None, :])]).tocsr()
    whole = float(_drops(np.asarray(table.sum(axis=0)), cells, classes)[0])
    return resampled_bound(
        lambda drawn: _drops((table.T @ drawn.T).T, cells, classes),
        np.zeros(table.shape[0], np.int64),
        observed,
        alpha,
        seed,
        shift=whole - observed,
    )


def _with_lost(cells: np.ndarray, counts: np.ndarray, label: int, weight: float) -> tuple[np.ndarray, np.ndarray]:
    """Add rows that only the baseline answers rightly."""
    lost = np.array([label, label, 1 if label == 0 else 0])
    at = np.flatnonzero((cells == lost).all(axis=1))
    if len(at):
        counts = counts.copy()
        counts[at[0]] += weight
        return cells, counts
    return np.vstack([cells, lost]), np.r_[counts, weight]


def _drops(drawn: np.ndarray, cells: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """(b,) drop in mean F1 from (b, cells) weights of (label, first, second)."""
    label, first, second = cells.T
    everywhere = np.ones(len(cells), bool)
    of_class = _by_class(drawn, label, everywhere, classes)
    both = []
    for predicted in (first, second):
        right = _by_class(drawn, label, predicted == label, classes)
        said = _by_class(drawn, predicted, everywhere, classes)
        both.append(np.nanmean(_f1(right, said, of_class, of_class > 0), axis=1))
    drops: np.ndarray = both[0] - both[1]
    return drops


def _by_class(drawn: np.ndarray, cell_class: np.ndarray, counts: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """(b, classes) sums of (b, cells) over the cells of each class that count."""
    at = np.minimum(np.searchsorted(classes, cell_class), len(classes) - 1)
    own = np.flatnonzero((classes[at] == cell_class) & counts)
    chosen = sparse.csr_matrix((np.ones(len(own)), (at[own], own)), shape=(len(classes), len(cell_class)))
    sums: np.ndarray = (chosen @ drawn.T).T
    return sums


def _f1(right: np.ndarray, said: np.ndarray, of_class: np.ndarray, exists: np.ndarray) -> np.ndarray:
    return np.where(exists, 2 * right / np.maximum(said + of_class, 1e-300), np.nan)


def _cell_draws(counts: np.ndarray, labels: np.ndarray, seed: int) -> Iterator[np.ndarray]:
    """(b, cells) counts of rows drawn again within each label, in chunks."""
    rng, step = np.random.default_rng(seed), max(1, CHUNK // len(counts))
    for start in range(0, N_REPLICATES, step):
        drawn = np.empty((min(step, N_REPLICATES - start), len(counts)))
        for label in np.unique(labels):
            own = np.flatnonzero(labels == label)
            drawn[:, own] = rng.multinomial(int(counts[own].sum()), counts[own] / counts[own].sum(), len(drawn))
        yield drawn
