"""What an estimate of carbon says."""

from __future__ import annotations

from engine.records.carbon import CarbonPlan
from engine.reports.numbers import SPACE, latency, percent, significant


def answer(plan: CarbonPlan) -> str:
    """The answer first, with the word estimate."""
    return (
        f"Estimate: {significant(plan.grams_per_1k)}{SPACE}g CO₂e per 1,000 requests, "
        f"{significant(plan.kg_per_month)}{SPACE}kg a month"
    )


def notes(plan: CarbonPlan) -> list[str]:
    """Every input, the formula, and what is not in it."""
    known = plan.settings
    return [
        f"inputs: {known.n_replicas:,} replicas, {known.active_w:g} W serving and {known.idle_w:g} W waiting, "
        f"{latency(known.busy_ms)} a request, {known.rate_per_s:g} requests/s ({percent(plan.busy_fraction)} busy), "
        f"PUE {known.pue:g}, {known.grams_per_kwh:g} g/kWh",
        f"(power serving × time + power waiting × time between) × PUE × grid; {percent(_idle(plan))} of it is waiting: "
        "half the traffic on the same fleet doubles that part",
        "not in it: making the machines, networks, storage, cooling beyond PUE, the hour of the day",
    ]


def _idle(plan: CarbonPlan) -> float:
    return plan.grams_per_1k_idle / plan.grams_per_1k if plan.grams_per_1k else 0.0
