"""How far two sets of class probabilities are apart, row by row."""

from __future__ import annotations

import numpy as np

CLIP = 1e-12


def kl_per_row(baseline: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    """(n,) Kullback-Leibler divergence, baseline to candidate, in nats, never negative; clipped at 1e-12.

    Both (n,) probabilities of the second class, or (n, K).
    """
    return _kl(_distribution(baseline), _distribution(candidate))


def js_per_row(baseline: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    """(n,) Jensen-Shannon divergence in nats (not its square root, which SciPy's `jensenshannon` returns)."""
    p, q = _distribution(baseline), _distribution(candidate)
    middle = (p + q) / 2
    js: np.ndarray = (_kl(p, middle) + _kl(q, middle)) / 2
    return js


def top_k_overlap(baseline: np.ndarray, candidate: np.ndarray, k: int) -> np.ndarray:
    """(n,) share of the k most likely classes of (n, K) scores that both name, in any order."""
    rows = np.arange(len(baseline))[:, None]
    named = np.zeros(baseline.shape, bool)
    named[rows, np.argpartition(-baseline, k - 1, axis=1)[:, :k]] = True
    share: np.ndarray = named[rows, np.argpartition(-candidate, k - 1, axis=1)[:, :k]].mean(axis=1)
    return share


def _kl(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    kl: np.ndarray = np.maximum(0.0, (p * (np.log(p) - np.log(q))).sum(axis=1))
    return kl


def _distribution(scores: np.ndarray) -> np.ndarray:
    columns = np.stack([1.0 - scores, scores], axis=1) if scores.ndim == 1 else scores
    clipped: np.ndarray = np.clip(columns, CLIP, None)
    clipped /= clipped.sum(axis=1, keepdims=True)
    return clipped
