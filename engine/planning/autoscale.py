"""A fleet that scales beside one that does not, on the same trace: is it cheaper, and do users notice?"""

from __future__ import annotations

import math

import numpy as np

from engine.errors import InvalidRequest
from engine.planning.cost import MONTH_H, replicas
from engine.records.autoscaling import AutoscalePlan, FleetRun, FleetSettings, Keda, Rules
from engine.records.planning import Reserve
from engine.simulation.autoscale.run import simulate, static
from engine.simulation.queue import as_traffic

TARGET_FACTORS = (0.7, 0.85, 1.2)  # of the target that was asked for


def plan_autoscale(
    arrivals_s: np.ndarray,
    services_s: np.ndarray,
    fleet: FleetSettings,
    rules: Rules,
    *,
    n_static: int | None = None,
    others: bool = False,
    seed: int = 0,
) -> AutoscalePlan:
    """Run the trace through a static fleet, the scaled one and, with `others`, three more targets.

    arrivals_s, services_s: (n,) float seconds. n_static: None sizes it for the busiest minute with 30 % headroom.
    Raises InvalidRequest where no run can say anything: no traffic, more work than the largest fleet can do, an SLO
    below the service time, a start-up longer than the trace.
    """
    arrivals, services = as_traffic(arrivals_s, services_s)
    _possible(arrivals, services, fleet)
    service_s, span_s = float(services.mean()), float(arrivals[-1])
    peak_per_s = busiest_minute_per_s(arrivals)
    sized = replicas(peak_per_s, fleet.concurrency / service_s, Reserve(min_replicas=max(fleet.min_replicas, 1)))
    kept = static(sized if n_static is None else n_static, fleet)
    scaled = simulate(arrivals, services, fleet, rules, seed)
    tried = []
    for factor in TARGET_FACTORS if others else ():
        other = at_target(rules, rules.target * factor)
        tried.append((other.target, simulate(arrivals, services, fleet, other, seed)))
    return AutoscalePlan(
        fleet=fleet,
        scaler=rules,
        peak_per_s=peak_per_s,
        mean_per_s=len(arrivals) / span_s if span_s else float(len(arrivals)),
        duration_s=span_s,
        service_ms=1000 * service_s,
        static=simulate(arrivals, services, kept, None, seed),
        scaled=scaled,
        tried=tuple(tried),
        warnings=tuple(_warnings(fleet, rules, scaled, peak_per_s * service_s)),
    )


def busiest_minute_per_s(arrivals_s: np.ndarray) -> float:
    """Requests/s of the busiest whole minute, or of the whole trace where that is shorter."""
    counts = np.bincount((arrivals_s // 60).astype(np.int64))
    span_s = float(arrivals_s[-1])
    return float(counts.max()) / (60.0 if span_s >= 60 else max(span_s, 1.0))


def at_target(rules: Rules, target: float) -> Rules:
    """The same rules at another target; a cpu target stays below 1."""
    target = min(target, 0.95) if rules.signal == "cpu" else target
    if isinstance(rules, Keda):
        return rules.model_copy(update={"hpa": rules.hpa.model_copy(update={"target": target})})
    return rules.model_copy(update={"target": target})


def cold_fraction(rate_per_s: float, idle_s: float) -> float:
    """Share of requests that find an empty fleet: e^(-rate · idle time), for independent arrivals."""
    return math.exp(-rate_per_s * idle_s)


def _possible(arrivals: np.ndarray, services: np.ndarray, fleet: FleetSettings) -> None:
    span_s, work_s = float(arrivals[-1] - arrivals[0]), float(services.sum())
    slots = fleet.max_replicas * fleet.concurrency
    if span_s and work_s >= slots * span_s and len(arrivals) > slots:
        raise InvalidRequest(
            f"unstable: {len(arrivals) / span_s:,.0f}/s exceeds {slots * len(services) / work_s:,.0f}/s, what "
            f"{fleet.max_replicas} replicas can do; the queue would grow for ever"
        )
    median_ms = 1000 * float(np.median(services))
    if fleet.slo_ms < median_ms:
        raise InvalidRequest(
            f"an SLO of {fleet.slo_ms:g} ms is below the service time, {median_ms:.3g} ms in the median: no number of "
            "replicas keeps it"
        )
    ready_s = min(fleet.startup_s) + fleet.load_s
    if ready_s >= arrivals[-1]:
        raise InvalidRequest(
            f"a replica takes {ready_s:g} s to be ready and the trace is {arrivals[-1]:.3g} s long: none that is "
            "ordered would ever serve; give a longer trace"
        )


def _warnings(fleet: FleetSettings, rules: Rules, run: FleetRun, peak_busy: float) -> list[str]:
    said = []
    if peak_busy >= fleet.max_replicas * fleet.concurrency:
        said.append(
            f"the busiest minute needs more than max replicas {fleet.max_replicas}: its queue grows until it is over"
        )
    if fleet.min_replicas == 0:
        said.extend(_from_zero(fleet, run))
    if rules.signal == "cpu":
        said.append("cpu ends at 100 %: it cannot see how many requests wait")
    if run.most_replicas == fleet.max_replicas and rules.signal == "in_flight":
        said.append("the waiting requests grew while replicas started, and the fleet went to its maximum: lower it")
    if run.n_unanswered:
        said.append(f"{run.n_unanswered:,} requests were still waiting an hour after the last one came")
    return said


def _from_zero(fleet: FleetSettings, run: FleetRun) -> list[str]:
    cold_s, limit_s = fleet.cold_start_s, fleet.slo_ms / 1000
    parts = f"start {np.mean(fleet.startup_s):g} s + load {fleet.load_s:g} s + first call {fleet.first_call_s:g} s"
    said = [f"a cold start takes {cold_s:g} s ({parts}); cold starts in this trace: {run.n_cold_starts:,}"]
    kept = f", which costs {fleet.price_per_hour * MONTH_H:,.0f} a month" if fleet.price_per_hour else ""
    if fleet.timeout_s is not None and cold_s > fleet.timeout_s:
        said.append(
            f"the first requests exceed the timeout of {fleet.timeout_s:g} s and fail: keep min replicas at 1{kept}"
        )
    elif cold_s > limit_s:
        said.append(f"the first requests exceed the SLO of {fleet.slo_ms:g} ms: keep min replicas at 1{kept}")
    return said
