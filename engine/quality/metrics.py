"""One number for one model on one set of rows. The metric follows the task."""

from __future__ import annotations

import numpy as np

from engine.errors import BadData, InvalidRequest
from engine.records import Metric, Task

AUTO: dict[Task, Metric] = {
    "binary": "roc_auc",
    "multiclass": "accuracy",
    "regression": "rmse",
    "ranking": "ndcg_at_10",
    "embedding": "retrieval_agreement",
}
FITS: dict[Metric, frozenset[Task]] = {
    "roc_auc": frozenset({"binary"}),
    "accuracy": frozenset({"binary", "multiclass"}),
    "rmse": frozenset({"regression"}),
    "ndcg_at_10": frozenset({"ranking"}),
    "retrieval_agreement": frozenset({"embedding"}),
}
NEEDS_NO_LABEL: frozenset[Metric] = frozenset({"retrieval_agreement"})
TOP = 10
MAX_RELEVANCE = 31  # 2^31 - 1: the largest gain LightGBM knows
CORPUS_ROWS = 10_000
CHUNK_ROWS = 1024


def auto_metric(task: Task, *, labelled: bool = True) -> Metric | None:
    """The metric of a task; None where only agreement with the original and timing are left."""
    metric = AUTO.get(task)
    return metric if metric is not None and (labelled or metric in NEEDS_NO_LABEL) else None


def is_relative(metric: Metric | None) -> bool:
    """True when a drop is a share of the baseline: the metric has no fixed scale."""
    return metric == "rmse"


def check_fits(metric: Metric, task: Task) -> None:
    """Raise InvalidRequest when a metric cannot judge a task."""
    if task not in FITS[metric]:
        allowed = " or ".join(sorted(name for name, tasks in FITS.items() if task in tasks)) or "no metric"
        raise InvalidRequest(f"the metric {metric} cannot judge a {task} task; use {allowed}")


def roc_auc(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Area under the ROC curve. scores: (n,) higher = second class; labels: (n,) 0 or 1, both present."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(labels, scores, sample_weight=weights))


def right_rows(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(n,) bool: rows whose most likely class is the label. A tie goes to the first class."""
    right: np.ndarray = predicted_classes(scores) == labels
    return right


def predicted_classes(scores: np.ndarray) -> np.ndarray:
    """(n,) int: most likely class of (n,) probabilities of the second class or (n, K) probabilities."""
    return (scores > 0.5).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)


def accuracy(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Share of rows whose most likely class is the label."""
    return float(np.average(right_rows(scores, labels), weights=weights))


def rmse(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Root of the mean squared error."""
    return float(np.sqrt(np.average((scores - labels) ** 2, weights=weights)))


def ndcg_per_query(scores: np.ndarray, relevance: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """NDCG@10 of every query that has a relevant item: (group values (q,), (q,) NDCG).

    Gain 2^relevance - 1, discount 1/log2(rank + 1) (Burges et al. 2005); items with equal scores share the mean of
    their ranks' discounts (McSherry and Najork 2008), so that file order decides nothing. relevance: (n,) 0..31.
    """
    if relevance.min() < 0 or relevance.max() > MAX_RELEVANCE:
        raise BadData(
            f"NDCG needs relevance labels of 0 to {MAX_RELEVANCE}, got {relevance.min():g} to {relevance.max():g}"
        )
    names, query = np.unique(groups, return_inverse=True)
    gain = 2.0**relevance - 1.0
    best = _dcg(gain, gain, query, len(names))
    asked = best > 0
    return names[asked], _dcg(scores, gain, query, len(names))[asked] / best[asked]


def same_neighbour(baseline: np.ndarray, candidate: np.ndarray, seed: int = 0) -> np.ndarray:
    """(n,) bool: rows whose nearest other row (cosine) is the same in both (n, d) embeddings.

    A neighbour that is as near in the baseline within rounding counts as the same. Above 10,000 rows the neighbours
    are looked for in a seeded sample of 10,000.
    """
    n = len(baseline)
    corpus = np.arange(n)
    if n > CORPUS_ROWS:
        corpus = np.sort(np.random.default_rng(seed).choice(n, CORPUS_ROWS, replace=False))
    before, after = _unit(baseline), _unit(candidate)
    same = np.empty(n, bool)
    for start in range(0, n, CHUNK_ROWS):
        rows = np.arange(start, min(start + CHUNK_ROWS, n))
        itself = rows[:, None] == corpus[None, :]
        old = np.where(itself, -np.inf, before[rows] @ before[corpus].T)
        new = np.where(itself, -np.inf, after[rows] @ after[corpus].T)
        chosen = old[np.arange(len(rows)), new.argmax(axis=1)]
        same[rows] = chosen >= old.max(axis=1) - 1e-6
    return same


def _dcg(order_by: np.ndarray, gain: np.ndarray, query: np.ndarray, n_queries: int) -> np.ndarray:
    order = np.lexsort((-order_by, query))
    sorted_query, sorted_score = query[order], order_by[order]
    starts = np.r_[0, np.flatnonzero(np.diff(sorted_query)) + 1]
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    discount = np.where(rank < TOP, 1.0 / np.log2(rank + 2.0), 0.0)
    new_tie = np.r_[True, (np.diff(sorted_query) != 0) | (np.diff(sorted_score) != 0)]
    tie = np.cumsum(new_tie) - 1
    mean_gain = np.bincount(tie, gain[order]) / np.bincount(tie)
    return np.bincount(sorted_query, mean_gain[tie] * discount, minlength=n_queries)


def _unit(vectors: np.ndarray) -> np.ndarray:
    single = vectors.astype(np.float32)
    unit: np.ndarray = single / np.maximum(np.linalg.norm(single, axis=1, keepdims=True), 1e-30)
    return unit
