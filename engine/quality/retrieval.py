"""Does a row's nearest neighbour stay the same when the embedding changes?"""

from __future__ import annotations

import numpy as np

CORPUS_ROWS = 10_000
CHUNK_ROWS = 1024


def same_neighbour(baseline: np.ndarray, candidate: np.ndarray, seed: int = 0) -> np.ndarray:
    """(n,) bool: rows whose nearest other row (cosine) is the same in both (n, d) embeddings.

    A neighbour that is as near in the baseline within rounding counts as the same. Above 10,000 rows the neighbours
    are looked for in a seeded sample of 10,000; the embeddings are read a block of rows at a time.
    """
    n = len(baseline)
    corpus = np.arange(n)
    if n > CORPUS_ROWS:
        corpus = np.sort(np.random.default_rng(seed).choice(n, CORPUS_ROWS, replace=False))
    before, after = _unit(baseline[corpus]), _unit(candidate[corpus])
    same = np.empty(n, bool)
    for start in range(0, n, CHUNK_ROWS):
        rows = np.arange(start, min(start + CHUNK_ROWS, n))
        itself = rows[:, None] == corpus[None, :]
        old = np.where(itself, -np.inf, _unit(baseline[rows]) @ before.T)
        new = np.where(itself, -np.inf, _unit(candidate[rows]) @ after.T)
        chosen = old[np.arange(len(rows)), new.argmax(axis=1)]
        same[rows] = chosen >= old.max(axis=1) - 1e-6
    return same


def _unit(vectors: np.ndarray) -> np.ndarray:
    single = vectors.reshape(len(vectors), -1).astype(np.float32)
    unit: np.ndarray = single / np.maximum(np.linalg.norm(single, axis=1, keepdims=True), 1e-30)
    return unit
