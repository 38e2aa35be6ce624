"""Replay a log of keys through a cache: which requests find their answer."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Hashable, Sequence

import numpy as np


def replay(keys: Sequence[Hashable], capacity: int, gap_s: float = 0.0, ttl_s: float = math.inf) -> np.ndarray:
    """Least recently used leaves first; an answer older than ttl_s, counted from when it was put in, is none.

    gap_s: time between two requests. Returns (n,) bool, true where the answer was there; it begins empty.
    """
    held: OrderedDict[Hashable, float] = OrderedDict()
    hits = np.zeros(len(keys), dtype=np.bool_)
    if not capacity:
        return hits
    for i, key in enumerate(keys):
        put_s = held.get(key)
        if put_s is not None and i * gap_s - put_s <= ttl_s:
            held.move_to_end(key)
            hits[i] = True
            continue
        held[key] = i * gap_s
        held.move_to_end(key)
        if len(held) > capacity:
            held.popitem(last=False)
    return hits
