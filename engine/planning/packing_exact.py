"""Is there a packing into so many nodes? Asked of HiGHS as a mixed-integer programme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from engine.records.packing import Item, Node

MOST_CHOICES = 30_000  # items × nodes; beyond it the solver would not even begin in time
STOPPED, INFEASIBLE = 1, 2  # scipy's status


def into(
    items: Sequence[Item],
    node: Node,
    places: Sequence[int],
    count: int,
    pairs: frozenset[tuple[int, int]],
    seconds: float,
) -> list[list[int]] | Literal["none", "unknown"]:
    """The items of `places`, by node; "none" when proven that they do not fit, "unknown" when time ran out.

    places: largest first. The one at k goes to one of the first k + 1 nodes, which only renames equal nodes.
    """
    n = len(places)
    if count < 1:
        return "none" if n else []
    if seconds <= 0 or n * count > MOST_CHOICES:
        return "unknown"
    from scipy.optimize import Bounds, LinearConstraint, milp

    matrix, lowest, highest = _rows(items, node, places, count, pairs)
    upper = np.ones(n * count + count)
    for k in range(min(n, count)):
        upper[k * count + k + 1 : (k + 1) * count] = 0
    result = milp(
        np.zeros(len(upper)),
        constraints=LinearConstraint(matrix, lowest, highest),
        integrality=np.ones(len(upper)),
        bounds=Bounds(0, upper),
        options={"time_limit": seconds},
    )
    if result.x is None:
        return "none" if result.status == INFEASIBLE else "unknown"
    chosen = np.rint(result.x[: n * count]).reshape(n, count).argmax(axis=1)
    return [part for b in range(count) if (part := [places[k] for k in np.flatnonzero(chosen == b).tolist()])]


def _rows(
    items: Sequence[Item], node: Node, places: Sequence[int], count: int, pairs: frozenset[tuple[int, int]]
) -> tuple[object, np.ndarray, np.ndarray]:
    """Constraints over x[k, b] = item k on node b, then z[b] = node b holds a latency-sensitive item."""
    from scipy.sparse import csr_array

    n = len(places)
    entries: list[tuple[int, int, float]] = []
    lowest: list[float] = []
    highest: list[float] = []

    def row(terms: Sequence[tuple[int, float]], low: float, high: float) -> None:
        entries.extend((len(lowest), column, value) for column, value in terms)
        lowest.append(low)
        highest.append(high)

    kept = node.compute_milli - node.compute_for(sensitive=True)
    where = {place: k for k, place in enumerate(places)}
    for k in range(n):
        row([(k * count + b, 1) for b in range(count)], 1, 1)
    for b in range(count):
        row([(k * count + b, items[place].memory_mb) for k, place in enumerate(places)], -np.inf, node.usable_mb)
        compute = [(k * count + b, items[place].compute_milli) for k, place in enumerate(places)]
        row([*compute, (n * count + b, kept)], -np.inf, node.compute_milli)
        for k, place in enumerate(places):
            if items[place].latency_sensitive:
                row([(k * count + b, 1), (n * count + b, -1)], -np.inf, 0)
        for i, j in pairs:
            if i in where and j in where:
                row([(where[i] * count + b, 1), (where[j] * count + b, 1)], -np.inf, 1)
    at, columns, values = zip(*entries, strict=True)
    matrix = csr_array((values, (at, columns)), shape=(len(lowest), n * count + count))
    return matrix, np.array(lowest), np.array(highest)
