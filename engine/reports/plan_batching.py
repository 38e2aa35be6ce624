"""What a batching plan says, in sentences and in rows, and as the configuration of a server."""

from __future__ import annotations

import re
from typing import Any

from engine.records.batching import BatchingPlan, Load, Setting
from engine.reports.numbers import MISSING, latency, percent, significant

BEYOND_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def answer(plan: BatchingPlan) -> str:
    """The answer first: "Batch at most 16 and wait 0 ms: p95 12.7 ms at 1,000 requests/s, within 20 ms"."""
    budget, rate = latency(plan.p95_budget_ms), f"{plan.rate_per_s:,.10g} requests/s"
    chosen, least = plan.chosen, plan.least
    if chosen is not None and chosen.peak is not None:
        return (
            f"Batch at most {chosen.cap} and wait {_wait(chosen.wait_ms)}: p95 {latency(chosen.peak.p95_ms)} "
            f"at {rate}, within {budget}"
        )
    if least is not None and least.peak is not None:
        lead = (
            f"No setting keeps {budget} at {rate}: the least p95 is {latency(least.peak.p95_ms)}, with batches of at "
            f"most {least.cap} and a wait of {_wait(least.wait_ms)}"
        )
    else:
        most = max(setting.capacity_per_s for setting in plan.grid)
        bare = "" if plan.rate_per_s >= most else f" with {percent(plan.headroom)} headroom"
        lead = (
            f"unstable: {plan.rate_per_s:,.0f}/s{bare} exceeds {most:,.0f}/s, the most that any of the caps can carry"
        )
    if plan.n_replicas is None:
        return f"{lead}; no number of replicas was found that keeps the budget"
    return f"{lead}; {plan.n_replicas:,} replicas that share the traffic and its headroom keep it"


def low_sentence(plan: BatchingPlan) -> str:
    """What the setting does when there is little traffic, and what the waiting costs then."""
    setting = plan.chosen or plan.least
    if setting is None or plan.low is None or plan.low_without_wait is None:
        return "At low traffic nothing was simulated: no cap keeps up with the peak"
    text = f"At {plan.low_per_s:,.4g} requests/s p50 is {latency(plan.low.p50_ms)}, p95 {latency(plan.low.p95_ms)}"
    if setting.wait_ms == 0:
        return f"{text}; nobody waits for a batch to fill"
    gained = plan.low.p50_ms - plan.low_without_wait.p50_ms
    if gained <= 0.01 * plan.low_without_wait.p50_ms:
        return f"{text}; the wait costs nothing there"
    return (
        f"{text}, of which {latency(gained)} is waiting for a batch that does not fill: use a wait of 0 when "
        f"traffic is low (p50 {latency(plan.low_without_wait.p50_ms)})"
    )


def formulas(plan: BatchingPlan) -> list[str]:
    """Inputs and formulas, and what the plan does not know."""
    lines = [
        plan.profile.how,
        f"simulated: {plan.n_requests:,} Poisson arrivals (seed {plan.seed}), the first tenth left out, one queue, "
        f"{plan.n_instances} instance{'s' if plan.n_instances > 1 else ''}; waiting is part of every latency",
        f"left out: caps that cannot carry {plan.rate_per_s:,.10g} × {1 + plan.headroom:g} requests/s",
    ]
    if plan.saturated_batch is not None:
        lines.append(f"mean batch when an instance never rests: λa / (c − λb) = {significant(plan.saturated_batch)}")
    if plan.safe_cap:
        lines.append(f"two calls of at most {plan.safe_cap} fit the budget at any traffic that is carried")
    lines.append("not in it: bursts beyond Poisson, the network, calls whose time depends on their rows")
    return lines


def rows(plan: BatchingPlan) -> list[dict[str, str]]:
    """One row per cap and wait, as text."""
    return [_row(setting, plan) for setting in plan.grid]


def _row(setting: Setting, plan: BatchingPlan) -> dict[str, str]:
    peak = setting.peak
    if peak is None:
        word = "unstable" if setting.capacity_per_s <= plan.rate_per_s else "no headroom"
    elif setting == plan.chosen:
        word = "chosen"
    else:
        word = "within" if setting.meets_budget else "over budget"
    return {
        "cap": f"{setting.cap:,}",
        "wait": _wait(setting.wait_ms),
        "capacity": f"{setting.capacity_per_s:,.0f}/s",
        "p50": latency(peak.p50_ms if peak else None),
        "p95": latency(peak.p95_ms if peak else None),
        "p99": latency(peak.p99_ms if peak else None),
        "mean batch": significant(peak.mean_batch) if peak else MISSING,
        "busy": percent(peak.busy_fraction if peak else None),
        "": word,
    }


def figures(plan: BatchingPlan) -> dict[str, Any]:
    """The plan as plain numbers, for JSON."""
    chosen = plan.chosen
    return {
        "answer": answer(plan),
        "cap": chosen.cap if chosen else None,
        "wait_ms": chosen.wait_ms if chosen else None,
        "at_peak": _load(chosen.peak if chosen else None),
        "at_low": _load(plan.low),
        "low": low_sentence(plan),
        **plan.model_dump(mode="json", exclude={"low", "chosen"}),
        "formulas": formulas(plan),
    }


def triton_config(plan: BatchingPlan, name: str, kind: str = "CPU") -> str:
    """A config.pbtxt for NVIDIA Triton with the chosen setting; without a choice, that of the least p95.

    Names of inputs, outputs and the backend stay out: Triton completes them for ONNX, or you add them.
    """
    setting = plan.chosen or plan.least
    assert setting is not None, "there is no setting to write down"
    model = BEYOND_NAME.sub("_", name).strip("_.") or "model"
    peak = setting.peak
    found = f"p95 {peak.p95_ms:.3g} ms" if peak else "not simulated"
    lines = [
        f"# Whetstone: {found} at {plan.rate_per_s:g} requests/s (simulated), budget {plan.p95_budget_ms:g} ms",
        f"# {plan.profile.how}",
        f'name: "{model}"',
        f"max_batch_size: {setting.cap}",
    ]
    if setting.cap > 1:
        lines += ["dynamic_batching {", f"  max_queue_delay_microseconds: {round(setting.wait_ms * 1000)}", "}"]
    lines += ["instance_group [", "  {", f"    count: {plan.n_instances}", f"    kind: KIND_{kind}", "  }", "]"]
    return "\n".join(lines) + "\n"


def _load(load: Load | None) -> dict[str, float] | None:
    return load.model_dump(mode="json") if load else None


def _wait(wait_ms: float) -> str:
    return f"{wait_ms:g}\u202fms"
