"""What a plan for a cache says, in sentences and in rows."""

from __future__ import annotations

from engine.records.caching import CachePlan
from engine.reports.numbers import latency, money, percent


def answer(plan: CachePlan, currency: str) -> str:
    """The answer first: hit rate, mean latency, what still reaches the model, and whether p99 moves."""
    before = plan.settings.model_ms
    text = (
        f"{percent(plan.hit_fraction, 1)} hits: mean {latency(plan.mean_ms)} instead of {latency(before)}, "
        f"{plan.model_per_s:,.4g} of {plan.settings.rate_per_s:,.4g} requests/s reach the model; "
        + ("p99 improves" if plan.improves_p99 else "p99 does not improve: hits are not above 99%")
    )
    if plan.fleet is not None and plan.settings.price_per_hour:
        text += (
            f"; {money(plan.fleet.cost_warm_per_month, currency)} a month against "
            f"{money(plan.fleet.cost_without_per_month, currency)} without"
        )
    return text


def rows(plan: CachePlan) -> list[dict[str, str]]:
    """Hit rate by size of the cache."""
    return [{"holds": f"{size:,}", "hits": percent(hits, 1)} for size, hits in plan.curve]


def notes(plan: CachePlan) -> list[str]:
    """Formula, the empty cache, and what the plan does not know."""
    known = plan.settings
    lines = [
        f"hit rate: {plan.how}; {plan.n_keys:,} keys; always holding the most asked ones: "
        f"{percent(plan.best_fraction, 1)}",
        f"mean = hits × {latency(known.hit_ms)} + misses × ({latency(known.lookup_ms)} + {latency(known.model_ms)})",
    ]
    if plan.hit_fraction_from_empty is not None:
        lines.append(f"from an empty cache over the whole log: {percent(plan.hit_fraction_from_empty, 1)} hits")
    if plan.fleet is not None:
        lines.append(
            f"replicas: {plan.fleet.without:,} without, {plan.fleet.warm:,} behind a warm cache, {plan.fleet.cold:,} "
            "while it is empty: after a restart or a new model version every request reaches the model"
        )
    lines.append("not in it: keys that change their popularity, answers that must not be reused, the cache's own queue")
    return lines
