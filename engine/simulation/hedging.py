"""A second copy of a request that takes long: Dean and Barroso (2013), The Tail at Scale, CACM 56(2).

Times in ms. The copy goes to another replica after a delay; the first answer counts.
"""

from __future__ import annotations

import numpy as np


def hedged(first_ms: np.ndarray, copy_ms: np.ndarray, delay_ms: float) -> np.ndarray:
    """Latency of every request: its own, or that of a copy sent after the delay if that is back sooner.

    first_ms, copy_ms: (n,) float, what request and copy take. Returns (n,) float.
    """
    return np.where(first_ms > delay_ms, np.minimum(first_ms, delay_ms + copy_ms), first_ms)


def extra_work(first_ms: np.ndarray, copy_ms: np.ndarray, delay_ms: float) -> float:
    """Extra busy time as a share of all, when the loser is cancelled at once; below 0 where that saves more."""
    sent = first_ms > delay_ms
    done_ms = hedged(first_ms, copy_ms, delay_ms)[sent]
    return float((2 * done_ms - delay_ms - first_ms[sent]).sum() / first_ms.sum())


def copies(first_ms: np.ndarray, slow: np.ndarray, correlation: float, seed: int) -> np.ndarray:
    """What copies take: drawn anew, but with this chance from the slow ones where the first is slow.

    first_ms: (n,) float; slow: (n,) bool, which of them are. Returns (n,) float.
    """
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(first_ms)
    again = slow & (rng.random(len(first_ms)) < correlation)
    drawn[again] = rng.choice(first_ms[slow], int(again.sum())) if again.any() else drawn[again]
    return drawn


def paused(first_ms: np.ndarray, pause_ms: float, every_ms: float, seed: int) -> np.ndarray:
    """Latencies of a process that stops for pause_ms once in every_ms; requests come at any time.

    Who comes in a pause waits for its end; who is overtaken by one stands still for it. Returns (n,) float.
    """
    since_ms = np.random.default_rng(seed).uniform(0, every_ms, len(first_ms))  # since the last pause began
    waits = np.where(since_ms < pause_ms, pause_ms - since_ms, 0.0)
    begins = np.maximum(since_ms, pause_ms)
    met = np.floor((begins - pause_ms + first_ms) / (every_ms - pause_ms))  # pauses during the service
    return np.asarray(first_ms + waits + met * pause_ms)
