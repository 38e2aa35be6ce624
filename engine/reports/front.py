"""The Pareto front: the points that no other point beats on one axis without losing on the other."""

from __future__ import annotations

from collections.abc import Sequence


def front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Positions of the points on the front, the largest first coordinate first; larger is better on both axes.

    Points that are equal on both axes stand on it together. Being on the front is no recommendation: one end of it
    is always the point that is best on one axis and may be hopeless on the other.
    """
    order = sorted(range(len(points)), key=lambda at: points[at], reverse=True)
    kept: list[int] = []
    for at in order:
        last = points[kept[-1]] if kept else None
        if last is None or points[at][1] > last[1] or points[at] == last:
            kept.append(at)
    return kept
