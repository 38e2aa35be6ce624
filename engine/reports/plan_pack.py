"""What a packing plan says, in sentences and in rows."""

from __future__ import annotations

from engine.records.packing import PackingPlan
from engine.reports.numbers import money, percent


def answer(plan: PackingPlan, currency: str) -> str:
    """The answer first: so many on so many nodes, what that saves, and whether fewer could do."""
    n_items, n_nodes = sum(len(load.items) for load in plan.loads), len(plan.loads)
    sure = "no fewer can hold them" if plan.optimal else f"at least {plan.least_nodes} are needed"
    text = f"{n_items} models on {n_nodes} node{'' if n_nodes == 1 else 's'}; {sure}"
    if plan.left_out:
        text += f"; left out for want of space: {', '.join(plan.left_out)}"
    if plan.node.price_per_hour:
        text += (
            f"; {money(plan.cost_per_month, currency)} a month against "
            f"{money(plan.cost_unpacked_per_month, currency)} with a node each"
        )
    return text


def rows(plan: PackingPlan) -> list[dict[str, str]]:
    """One row per node."""
    return [
        {
            "node": f"{number}",
            "memory": percent(load.memory_mb / plan.node.usable_mb),
            "compute": percent(load.compute_milli / plan.node.compute_milli),
            "models": ", ".join(load.items),
        }
        for number, load in enumerate(plan.loads, 1)
    ]


def notes(plan: PackingPlan) -> list[str]:
    """Rules, and what the plan does not know."""
    node = plan.node
    return [
        f"memory of a node: {percent(node.memory_fraction)} of {node.memory_mb:,} MB less {node.runtime_mb:,} MB, a "
        f"hard limit; compute at its peak, at most {percent(node.busy_limit)} beside a latency-sensitive model",
        f"first fit decreasing: {plan.first_fit_nodes} nodes; bound by sums: {plan.least_nodes}",
        "kept apart: " + ("; ".join(f"{a} and {b}" for a, b in plan.apart) if plan.apart else "nobody"),
        "not in it: peaks that do not coincide, a node that fails, models that slow each other down, not measured",
    ]
