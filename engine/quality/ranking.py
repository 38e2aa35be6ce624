"""NDCG of a ranked list of items, query by query."""

from __future__ import annotations

import numpy as np

from engine.errors import BadData

TOP = 10
MAX_RELEVANCE = 31  # 2^31 - 1: the largest gain LightGBM knows


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
