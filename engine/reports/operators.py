"""An operator profile as a table: before beside after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.records import OperatorCost, OperatorProfile
from engine.reports.numbers import latency, percent

SMALL = 0.005  # operators below this share on both sides are shown together


def operator_rows(profile: OperatorProfile) -> list[dict[str, str]]:
    """One row per operator, the dearest of either side first; an empty cell where a side does not have it.

    What takes less than half a percent on both sides is one row at the end.
    """
    sides = {"before": profile.before, **({"after": profile.after} if profile.after else {})}
    found = {name: {cost.op: cost for cost in costs} for name, costs in sides.items()}
    highest = {
        op: max(costs[op].share for costs in found.values() if op in costs)
        for op in dict.fromkeys(cost.op for costs in sides.values() for cost in costs)
    }
    large = sorted((op for op, share in highest.items() if share >= SMALL), key=lambda op: -highest[op])
    small = [op for op, share in highest.items() if share < SMALL]
    rows = [_row(op, {name: costs.get(op) for name, costs in found.items()}) for op in large]
    if small:
        together = {name: _sum([costs[op] for op in small if op in costs]) for name, costs in found.items()}
        rows.append(_row(f"{len(small)} smaller" if len(small) > 1 else small[0], together))
    return rows


def _row(op: str, sides: Mapping[str, OperatorCost | None]) -> dict[str, str]:
    row = {"operator": op}
    for name, cost in sides.items():
        row[f"n {name}"] = "" if cost is None else str(cost.n)
        row[f"time {name}"] = "" if cost is None else latency(cost.total_ms)
        row[f"share {name}"] = "" if cost is None else percent(cost.share, 1)
    return row


def _sum(costs: Sequence[OperatorCost]) -> OperatorCost | None:
    if not costs:
        return None
    return OperatorCost(
        op="",
        n=sum(cost.n for cost in costs),
        total_ms=sum(cost.total_ms for cost in costs),
        share=min(1.0, sum(cost.share for cost in costs)),
    )
