"""Whether the time of a call depends on its rows.

The noise of a call does not come back at the same rows in another process; what the rows cost does. So the slowest
blocks of rows are picked by all pairs but one and their time is taken from that one, for every pair in turn: with rows
that do not matter the answer is 1, however noisy the machine.
"""

from __future__ import annotations

import math

import numpy as np

from engine.measurement.timings import Round, Timings
from engine.records import RowSpread, Workload

TAIL = 0.05  # of the blocks: what "slowest" and "fastest" mean
FEWEST_BLOCKS = 60


def row_spread(timings: Timings, arm: str, workload: Workload) -> RowSpread | None:
    """How slow the slowest rows are; None with one pair or with fewer than 60 blocks of rows.

    A block is the rows of one call. The first call of a round is left out: it finds the caches of the other arm.
    Rows dearer than the rest are seen when they are at least half of the tail (2.5 % of all).
    """
    pairs = [_by_block(rounds, timings.n_pool_rows) for rounds in timings.by_pair(arm, workload)]
    blocks = sorted(set.intersection(*(set(pair) for pair in pairs)))
    if len(pairs) < 2 or len(blocks) < FEWEST_BLOCKS:
        return None
    shares = np.array([[pair[block] for block in blocks] for pair in pairs])
    n_tail = math.ceil(TAIL * len(blocks))
    return RowSpread(
        n_blocks=len(blocks),
        slowest=_held_out(shares, slice(-n_tail, None)),
        fastest=_held_out(shares, slice(0, n_tail)),
    )


def _held_out(shares: np.ndarray, tail: slice) -> float:
    """Geometric mean over the (P, n_blocks) pairs of: median of the tail that the others pick / median of all."""
    logs = []
    for pair, taken in enumerate(shares):
        others = np.delete(shares, pair, axis=0)
        picked = np.argsort(_middle(others))[tail]
        logs.append(math.log(np.median(taken[picked]) / np.median(taken)))
    return math.exp(float(np.mean(logs)))


def _middle(values: np.ndarray) -> np.ndarray:
    """Nearest-rank median of (k, n) over k: of two, the smaller one, for what disturbs a call only makes it longer."""
    middle: np.ndarray = np.sort(values, axis=0)[(len(values) - 1) // 2]
    return middle


def _by_block(rounds: list[Round], n_pool_rows: int) -> dict[int, float]:
    """First row of a block -> its median time, as a share of the pair's median call."""
    starts = [(one.start + np.arange(1, len(one.total_ns)) * one.workload.batch_size) % n_pool_rows for one in rounds]
    calls = np.concatenate([one.total_ns[1:] for one in rounds])
    blocks, where = np.unique(np.concatenate(starts), return_inverse=True)
    order = np.argsort(where, kind="stable")
    parts = np.split(calls[order] / np.median(calls), np.cumsum(np.bincount(where))[:-1])
    return {int(block): float(_middle(part[:, None])[0]) for block, part in zip(blocks, parts, strict=True)}
