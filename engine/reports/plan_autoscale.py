"""What an autoscaling plan says, in sentences and in rows."""

from __future__ import annotations

from engine.records.autoscaling import AutoscalePlan, FleetRun, Hpa, Keda, Knative, Rules
from engine.reports.numbers import latency, money, percent

LIMITS = (
    "not in it: more than one queue, replicas that fail, noisy neighbours, the network; one trace: another day may "
    "differ, so keep max replicas and headroom in mind"
)


def answer(plan: AutoscalePlan, currency: str) -> str:
    """The answer first: keep the static fleet, or scale and save so much."""
    fixed, best = plan.static, plan.best
    if best is None:
        scaled, lead = plan.scaled, f"Keep {fixed.most_replicas:,} fixed replicas"
    else:
        target, scaled = best
        saved = 1 - scaled.replica_hours / fixed.replica_hours
        lead = (
            f"Scale by {plan.scaler.signal} at {target:g}: {percent(saved)} fewer replica-hours than "
            f"{fixed.most_replicas:,} fixed replicas"
        )
    text = (
        f"{lead}; beyond {latency(plan.fleet.slo_ms)} in {scaled.bad_minutes:,} of {scaled.n_minutes:,} minutes "
        f"scaled, in {fixed.bad_minutes:,} fixed"
    )
    if not plan.fleet.price_per_hour:
        return text
    return f"{text}; {money(scaled.cost, currency)} against {money(fixed.cost, currency)}"


def rows(plan: AutoscalePlan, currency: str) -> list[dict[str, str]]:
    """The static fleet, the scaled one, and other targets."""
    rules = plan.scaler
    others = [_row(run, f"{run.name}, {rules.signal} {target:g}", currency) for target, run in plan.tried]
    name = f"{plan.scaled.name}, {rules.signal} {rules.target:g}"
    return [_row(plan.static, "static", currency), _row(plan.scaled, name, currency), *others]


def _row(run: FleetRun, name: str, currency: str) -> dict[str, str]:
    return {
        "fleet": name,
        **{
            f"p{q}": "no answer" if value is None else latency(value)
            for q, value in ((50, run.p50_ms), (95, run.p95_ms), (99, run.p99_ms))
        },
        "minutes beyond SLO": f"{run.bad_minutes:,}",
        "failed": f"{run.n_timed_out + run.n_shed + run.n_unanswered:,}",
        "replica-hours": f"{run.replica_hours:,.2f}",
        "cost": money(run.cost, currency),
        "most replicas": f"{run.most_replicas:,}",
        "cold starts": f"{run.n_cold_starts:,}",
    }


def notes(plan: AutoscalePlan) -> list[str]:
    """Inputs, the rule, warnings and what the plan does not know."""
    return [
        f"trace: {plan.scaled.n_requests:,} requests in {plan.duration_s:,.0f} s, {plan.mean_per_s:,.4g}/s in the mean "
        f"and {plan.peak_per_s:,.4g}/s in the busiest minute; service {latency(plan.service_ms)}",
        _rule(plan.scaler),
        "a replica is paid from its order until it has drained",
        *plan.warnings,
        LIMITS,
    ]


def _rule(rules: Rules) -> str:
    """How it decides, in words."""
    if isinstance(rules, Knative):
        return (
            f"replicas = requests in flight over {rules.stable_window_s:g} s / {rules.target:g}, rounded up, every "
            f"{rules.tick_s:g} s; in panic those of {rules.panic_fraction * rules.stable_window_s:g} s, and never fewer"
        )
    if isinstance(rules, Hpa | Keda):
        hpa = rules.hpa if isinstance(rules, Keda) else rules
        return (
            f"replicas = current × {hpa.signal} per replica / {hpa.target:g}, rounded up, unless within "
            f"{percent(hpa.tolerance)} of it; every {hpa.sync_s:g} s, down only after {hpa.down_window_s:g} s"
        )
    return (
        f"replicas = ongoing requests over {rules.look_back_s:g} s / {rules.target:g}, rounded up, once that has held "
        f"for {rules.up_delay_s:g} s, downwards for {rules.down_delay_s:g} s"
    )
