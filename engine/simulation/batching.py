"""A dynamic batcher, request by request, with the rules of NVIDIA Triton's (docs/user_guide/batcher.md).

When an instance is free, the oldest requests go at once if they fill the cap or a preferred size. Else they wait for
more, until the size is reached or the oldest of them has waited long enough. An arrival exactly at the deadline is in.
First come, first served, one priority. Preferred sizes among several waiting instances are simplified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.simulation.compiled import compiled


@dataclass(frozen=True)
class Batched:
    """What happened. latency_ms: (n_requests,) float64, from arrival to answer; sizes: (n_batches,) int64."""

    latency_ms: np.ndarray
    sizes: np.ndarray
    busy_ms: float


def simulate(
    arrivals_ms: np.ndarray,
    call_ms: np.ndarray,
    wait_ms: float,
    *,
    n_instances: int = 1,
    preferred: Sequence[int] = (),
) -> Batched:
    """Serve every request.

    arrivals_ms: (n,) ascending. call_ms: (cap + 1,) time of a call by its number of requests; entry 0 is not used, the
    length says the cap. Every instance serves one batch at a time. Dozens of millions of requests/s compiled.
    """
    arrivals = np.ascontiguousarray(arrivals_ms, float)
    cap = len(call_ms) - 1
    assert cap >= 1
    assert n_instances >= 1
    sizes_wanted = np.array(sorted({size for size in preferred if size < cap} | {cap}), np.int64)
    latency_ms, sizes = np.empty(len(arrivals)), np.empty(len(arrivals), np.int64)
    free = np.full(n_instances, -np.inf)
    n_batches, busy_ms = compiled(_serve)(
        arrivals, np.asarray(call_ms, float), float(wait_ms), sizes_wanted, free, latency_ms, sizes
    )
    return Batched(latency_ms, sizes[:n_batches], float(busy_ms))


def _serve(arrivals, call_ms, wait_ms, wanted, free, latency_ms, sizes):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """wanted: ascending preferred sizes, the cap last; free: when each instance is free. Fills the last two."""
    n, n_wanted = len(arrivals), len(wanted)
    cap = wanted[n_wanted - 1]
    head, after, n_batches, busy_ms = 0, 0, 0, 0.0  # after: first request that has not arrived yet
    while head < n:
        instance = 0
        for other in range(1, len(free)):
            if free[other] < free[instance]:
                instance = other
        at = max(free[instance], arrivals[head])
        after = max(after, head)
        while after < n and arrivals[after] <= at:
            after += 1
        if after - head < wanted[0]:
            last = head + wanted[0] - 1  # whose arrival fills the smallest wanted size
            deadline = max(at, arrivals[head] + wait_ms)
            at = max(at, arrivals[last]) if last < n and arrivals[last] <= deadline else deadline
            while after < n and arrivals[after] <= at:
                after += 1
        size = min(cap, after - head)
        for k in range(n_wanted - 1, -1, -1):
            if wanted[k] <= size:
                size = wanted[k]
                break
        end = at + call_ms[size]
        busy_ms += call_ms[size]
        for request in range(head, head + size):
            latency_ms[request] = end - arrivals[request]
        free[instance] = end
        sizes[n_batches] = size
        n_batches += 1
        head += size
    return n_batches, busy_ms
