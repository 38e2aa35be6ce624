"""What a plan for the tail says, in sentences and in rows."""

from __future__ import annotations

from engine.records.tails import TailPlan
from engine.reports.numbers import latency, percent


def answer(plan: TailPlan) -> str:
    """The answer first: hedge after so long and p99.9 falls from there to there; or do not, and why."""
    before, after = plan.rows[0], plan.rows[1]
    if not plan.hedge:
        return f"Do not hedge: {plan.why}"
    one = "p99.9" if before.p999_ms is not None else "p99"
    old, new = (before.p999_ms, after.p999_ms) if one == "p99.9" else (before.p99_ms, after.p99_ms)
    return (
        f"Send a second copy after {latency(plan.delay_ms)}: {one} {latency(old)} becomes {latency(new)} "
        f"for {percent(plan.extra_fraction, 1)} more calls"
    )


def rows(plan: TailPlan) -> list[dict[str, str]]:
    """One row per way to serve, then hedging with copies that are slow together with the first."""
    told = [
        {
            "": row.name,
            "p50": latency(row.p50_ms),
            "p95": latency(row.p95_ms),
            "p99": latency(row.p99_ms),
            "p99.9": latency(row.p999_ms),
        }
        for row in plan.rows
    ]
    return told + [
        {
            "": f"hedged, copy slow too {percent(row.correlation)}",
            "p50": "",
            "p95": "",
            "p99": latency(row.p99_ms),
            "p99.9": latency(row.p999_ms),
        }
        for row in plan.correlations
    ]


def notes(plan: TailPlan) -> list[str]:
    """Assumptions, load, fan-out, and what the plan does not know."""
    busy = "" if plan.utilisation_after is None else f"; the fleet would be {percent(plan.utilisation_after)} busy"
    lines = [
        "assumes the copy's slowness is independent; the row of 50% is the cautious one"
        if plan.correlations
        else "no request is slow enough for a copy",
        f"extra calls {percent(plan.extra_fraction, 1)}{busy}; with the loser cancelled at once, extra work "
        f"{percent(plan.extra_work, 1)}",
        "T = X if X ≤ d, else min(X, d + Y); d is the quantile that keeps the budget",
    ]
    if plan.settings.fan_out > 1:
        before, after = plan.fan_out_ms
        lines.append(
            f"{plan.settings.fan_out:,} calls: {percent(plan.any_slow_fraction, 1)} of requests meet a call beyond its "
            f"p99; their own p99 rests on the {plan.leaf_quantile:.5f} quantile of a call: {latency(before)}, hedged "
            f"{latency(after)}"
        )
    if plan.fallback_fraction is not None:
        lines.append(
            f"the fallback answers {percent(plan.fallback_fraction, 2)} of requests; its quality is not in here"
        )
    lines.append("not in it: the queue that extra calls make longer; confirm with a load test")
    return lines
