"""What a cost plan says, in sentences and in rows."""

from __future__ import annotations

from typing import Any

from engine.records.planning import BreakEven, CostPlan, Fleet, Saving
from engine.reports.numbers import MISSING, between, latency, money, percent


def answer(plan: CostPlan) -> str:
    """The answer first: "8 cpu replicas, ₹2.3 lakh a month; the gpu would pay off from a peak of 462 requests/s"."""
    best = plan.cheapest
    name = best.machine.name
    many = "s" if best.n_replicas > 1 else ""
    what = f"replica{many} of {name}" if " " in name else f"{name} replica{many}"
    lead = f"{best.n_replicas:,} {what}, {money(best.cost_per_month, plan.currency)} a month"
    others = [one for one in plan.break_evens if name in (one.cheaper, one.dearer)]
    return "; ".join([lead, *(_pays_off(one, name) for one in others)])


def _pays_off(one: BreakEven, chosen: str) -> str:
    if one.peak_per_s is None:
        return f"no peak was found from which {_the(one.cheaper)} stays cheaper than {_the(one.dearer)}"
    if one.cheaper == chosen:
        if one.peak_per_s == 1:
            return f"cheaper than {_the(one.dearer)} at any peak"
        return f"cheaper than {_the(one.dearer)} from a peak of {one.peak_per_s:,} requests/s"
    return f"{_the(one.cheaper)} would pay off from a peak of {one.peak_per_s:,} requests/s"


def formulas(plan: CostPlan) -> list[str]:
    """Inputs and formulas, and what the plan does not know."""
    reserve, demand = plan.reserve, plan.demand
    lines = [
        f"replicas = peak {demand.peak_per_s:,g}/s × {1 + reserve.headroom:g} / (requests/s of one), rounded up, at "
        f"least {reserve.min_replicas}" + (", and one more than the bare peak needs" if reserve.spare else ""),
        f"a month is 720 h; per 1,000 at real traffic: the fleet's price over {demand.mean_per_s:,.4g} requests/s"
        + ("" if demand.average_per_s is not None or demand.day_per_s else ", the peak around the clock"),
        "waiting: Erlang C, one request at a time per replica, service times spread exponentially; "
        "the second mean is Allen-Cunneen with the variation given",
        "not in it: start-up times, network, storage, discounts",
    ]
    if plan.day:
        lines.insert(2, "following the day: replicas change at once with the traffic, a lower bound")
    return lines


def rows(plan: CostPlan) -> list[dict[str, str]]:
    """One row per machine type, as text."""
    unit, factor = _unit(plan.fleets[0].cost_per_1k_full)
    return [_row(fleet, plan.currency, unit, factor) for fleet in plan.fleets]


def _unit(cost_per_1k: float) -> tuple[str, int]:
    """Very small costs are per million requests."""
    return ("per 1,000", 1) if cost_per_1k >= 0.01 or cost_per_1k == 0 else ("per million", 1000)


def _row(fleet: Fleet, currency: str, unit: str, factor: int) -> dict[str, str]:
    queue = fleet.queue
    return {
        "machine": fleet.machine.name,
        "replicas": f"{fleet.n_replicas:,}",
        "decided by": fleet.why,
        "a month": money(fleet.cost_per_month, currency),
        f"{unit}, full use": money(factor * fleet.cost_per_1k_full, currency),
        f"{unit}, real traffic": money(factor * fleet.cost_per_1k_real, currency),
        "busy at peak": percent(fleet.busy_fraction),
        "busy, one lost": percent(fleet.busy_fraction_one_lost),
        "mean wait": latency(queue.mean_wait_ms) if queue else MISSING,
        "p99": latency(queue.p99_ms) if queue else "unstable",
    }


def day_rows(plan: CostPlan) -> list[dict[str, str]]:
    """One row per machine type that follows the day, beside a fleet that does not."""
    unit, factor = _unit(plan.fleets[0].cost_per_1k_full)
    return [
        {
            "machine": day.machine,
            "replicas": f"{min(day.replicas):,} to {max(day.replicas):,}",
            "a day, following": money(day.cost_per_day, plan.currency),
            "a day, static": money(day.static_cost_per_day, plan.currency),
            "saved": percent(1 - day.cost_per_day / day.static_cost_per_day, 1) if day.static_cost_per_day else MISSING,
            f"{unit}, following": money(factor * day.cost_per_1k, plan.currency),
            f"{unit}, static": money(factor * day.static_cost_per_1k, plan.currency),
        }
        for day in plan.day
    ]


def slo_sentences(plan: CostPlan) -> list[str]:
    """How many of each type keep the limit that was set on waiting and service, or why none does."""
    return [
        f"{one.machine}: {one.why}"
        if one.n_replicas is None
        else f"{one.machine}: {one.n_replicas:,} {_keep(one.n_replicas)} p99 within {latency(one.limit_ms)} at the peak"
        for one in plan.slo_fleets
    ]


def saving_sentence(saving: Saving, currency: str) -> str:
    """In words: saves ₹1.2 lakh a month (₹1.1 lakh to ₹1.2 lakh) against the baseline at this traffic."""
    saved = saving.saved_per_month
    verb = "saves" if saved.value >= 0 else "costs"
    more = "" if saved.value >= 0 else " more"
    text = f"{verb} {money(abs(saved.value), currency)}{more} a month against the baseline at this traffic"
    if saved.low is None or saved.high is None:
        return text
    sign = 1 if saved.value >= 0 else -1
    low, high = sorted((sign * saved.low, sign * saved.high))
    return text.replace(" a month", f" a month ({between(money(low, currency), money(high, currency))})", 1)


def figures(plan: CostPlan) -> dict[str, Any]:
    """The plan as plain numbers, for JSON."""
    return {
        "answer": answer(plan),
        "machines": [_figures(fleet) for fleet in plan.fleets],
        "break_even_peak": plan.break_even_peak,
        "for_p99": [one.model_dump(mode="json") for one in plan.slo_fleets],
        "break_evens": [one.model_dump(mode="json") for one in plan.break_evens],
        "day": [one.model_dump(mode="json") for one in plan.day],
        "currency": plan.currency,
        "hours_per_month": 720,
        "demand": plan.demand.model_dump(mode="json") | {"mean_per_s": plan.demand.mean_per_s},
        "reserve": plan.reserve.model_dump(mode="json"),
        "formulas": formulas(plan),
    }


def _figures(fleet: Fleet) -> dict[str, Any]:
    machine = fleet.machine
    return {
        "name": machine.name,
        "requests_per_s": machine.requests_per_s.value,
        "price_per_hour": machine.price_per_hour,
        "replicas": fleet.n_replicas,
        **fleet.model_dump(mode="json", exclude={"machine", "n_replicas"}),
    }


def _the(name: str) -> str:
    return name if " " in name else f"the {name}"


def _keep(n_replicas: int) -> str:
    return "replica keeps" if n_replicas == 1 else "replicas keep"
