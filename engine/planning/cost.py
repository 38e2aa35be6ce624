"""How many machines a peak needs, what they cost, and from which peak on another type pays off.

A month is 30 days of 24 hours. Headroom is added to the peak, not taken from the capacity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.errors import InvalidRequest
from engine.planning.queueing import fewest_servers, queue_check
from engine.records import Interval
from engine.records.planning import (
    BreakEven,
    CostPlan,
    DayCost,
    Demand,
    Fleet,
    Machine,
    QueueCheck,
    Reserve,
    Saving,
    SloFleet,
)

MONTH_H = 720.0
DAY_H = 24.0
SLACK = 1e-9  # 50 · 1.1 / 11 is 5.000000000000001 in binary: five replicas, not six
MOST_PEAKS = 20_000_000  # break-even is searched among whole requests/s up to here
CHUNK = 1_000_000


def replicas(peak_per_s: float, requests_per_s: float, reserve: Reserve) -> int:
    """Replicas for a peak: with headroom, at least the minimum, one more than the bare peak needs where asked."""
    needed = math.ceil(peak_per_s * (1 + reserve.headroom) / requests_per_s - SLACK)
    after_loss = math.ceil(peak_per_s / requests_per_s - SLACK) + 1 if reserve.spare else 0
    return max(reserve.min_replicas, needed, after_loss)


def cost_per_1k(price_per_hour: float, requests_per_s: float) -> float:
    """Cost of 1,000 requests when that many come each second."""
    return price_per_hour / (3600 * requests_per_s) * 1000


def fleet(machine: Machine, demand: Demand, reserve: Reserve) -> Fleet:
    """As many of one machine type as the demand needs, and what they cost."""
    per_replica = machine.requests_per_s.value
    n_replicas = replicas(demand.peak_per_s, per_replica, reserve)
    exact = demand.peak_per_s * (1 + reserve.headroom) / per_replica
    if n_replicas == math.ceil(exact - SLACK):
        why = "the peak"
    else:
        why = "the minimum" if n_replicas == reserve.min_replicas else "a lost replica"
    price = n_replicas * machine.price_per_hour
    left = (n_replicas - 1) * per_replica
    return Fleet(
        machine=machine,
        n_replicas=n_replicas,
        exact_replicas=exact,
        why=why,
        cost_per_month=price * MONTH_H,
        cost_per_1k_full=cost_per_1k(machine.price_per_hour, per_replica),
        cost_per_1k_real=cost_per_1k(price, demand.mean_per_s),
        busy_fraction=demand.peak_per_s / (n_replicas * per_replica),
        busy_fraction_one_lost=demand.peak_per_s / left if left else None,
        queue=_queue(machine, n_replicas, demand),
    )


def _queue(machine: Machine, n_replicas: int, demand: Demand) -> QueueCheck | None:
    """A replica serves one request at a time, each 1 / (requests/s) long in the mean."""
    service_s = 1 / machine.requests_per_s.value
    if demand.peak_per_s * service_s >= n_replicas:
        return None
    return queue_check(
        n_replicas, demand.peak_per_s, service_s, (demand.arrival_variation + machine.service_variation) / 2
    )


def plan_cost(
    machines: Sequence[Machine],
    demand: Demand,
    reserve: Reserve,
    currency: str = "USD",
    p99_ms: float | None = None,
) -> CostPlan:
    """Machine types side by side. Raises InvalidRequest without machines or with two of one name.

    p99_ms: also say how many of each keep that limit on waiting and service, by Erlang C.
    """
    if not machines:
        raise InvalidRequest("no machine to plan with: give at least one as name, requests/s and price per hour")
    names = [machine.name for machine in machines]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InvalidRequest(f"two machines are called {twice[0]!r}; every type needs its own name")
    fleets = tuple(fleet(machine, demand, reserve) for machine in machines)
    leader = min(fleets, key=lambda one: one.cost_per_1k_full).machine
    return CostPlan(
        demand=demand,
        reserve=reserve,
        currency=currency,
        fleets=fleets,
        break_evens=tuple(break_even(leader, other, reserve) for other in machines if other.name != leader.name),
        day=tuple(day_cost(machine, demand, reserve) for machine in machines) if demand.day_per_s else (),
        slo_fleets=() if p99_ms is None else tuple(_within(machine, demand, p99_ms) for machine in machines),
    )


def _within(machine: Machine, demand: Demand, p99_ms: float) -> SloFleet:
    try:
        n_replicas = fewest_servers(demand.peak_per_s, 1 / machine.requests_per_s.value, p99_ms / 1000)
    except InvalidRequest as error:
        return SloFleet(machine=machine.name, limit_ms=p99_ms, n_replicas=None, why=str(error))
    return SloFleet(machine=machine.name, limit_ms=p99_ms, n_replicas=n_replicas)


def break_even(leader: Machine, other: Machine, reserve: Reserve) -> BreakEven:
    """The smallest whole peak from which the leader is cheaper than the other and stays so.

    leader: the one that costs less per request at full use. Replicas come whole, so the two costs may cross several
    times; the last crossing counts. Every peak up to the bound beyond which none can follow is looked at.
    """
    rates, price = (
        (leader.requests_per_s.value, other.requests_per_s.value),
        (leader.price_per_hour, other.price_per_hour),
    )
    gain = (1 + reserve.headroom) * (price[1] / rates[1] - price[0] / rates[0])  # per request/s, at large peaks
    never = BreakEven(cheaper=leader.name, dearer=other.name, peak_per_s=None)
    if gain <= 0:
        return never
    # beyond it the leader is cheaper whatever rounding, minimum and spare add to it
    bound = max(2 * price[0] / gain, reserve.min_replicas * price[0] * rates[1] / ((1 + reserve.headroom) * price[1]))
    if bound > MOST_PEAKS:
        return never
    for high in range(math.ceil(bound) + 1, 0, -CHUNK):
        peaks = np.arange(max(1, high - CHUNK + 1), high + 1)
        dearer = np.flatnonzero(_hourly(leader, peaks, reserve) >= _hourly(other, peaks, reserve))
        if len(dearer):
            return never.model_copy(update={"peak_per_s": int(peaks[dearer[-1]]) + 1})
    return never.model_copy(update={"peak_per_s": 1})


def hourly_cost(machine: Machine, peaks_per_s: Sequence[float], reserve: Reserve) -> list[float]:
    """What a fleet costs an hour, by peak: the line of a chart."""
    return [float(cost) for cost in _hourly(machine, np.asarray(peaks_per_s, float), reserve)]


def day_cost(machine: Machine, demand: Demand, reserve: Reserve) -> DayCost:
    """Replicas that follow the day, against as many as its busiest part needs all day."""
    parts = demand.day_per_s
    by_part = tuple(replicas(rate, machine.requests_per_s.value, reserve) for rate in parts)
    hours = DAY_H / len(parts)
    n_requests = sum(parts) * hours * 3600
    cost = sum(by_part) * hours * machine.price_per_hour
    static = replicas(max(parts), machine.requests_per_s.value, reserve) * DAY_H * machine.price_per_hour
    return DayCost(
        machine=machine.name,
        replicas=by_part,
        replica_hours=sum(by_part) * hours,
        cost_per_day=cost,
        static_cost_per_day=static,
        cost_per_1k=cost / n_requests * 1000,
        static_cost_per_1k=static / n_requests * 1000,
    )


def savings(baseline: Machine, variants: Sequence[Machine], demand: Demand, reserve: Reserve) -> tuple[Saving, ...]:
    """Money saved a month by each variant against the baseline, both sized for the same demand.

    The interval takes the worst of both throughputs' intervals, so it holds at least as often as they do. Give the
    baseline without an interval when the variants' come from ratios to it.
    """
    before = fleet(baseline, demand, reserve).cost_per_month
    cheap, dear = _month_bounds(baseline, demand, reserve)
    found = []
    for variant in variants:
        own = fleet(variant, demand, reserve)
        low, high = _month_bounds(variant, demand, reserve)
        measured = any(bound is not None for bound in (variant.requests_per_s.low, baseline.requests_per_s.low))
        saved = Interval(
            value=before - own.cost_per_month,
            low=cheap - high if measured else None,
            high=dear - low if measured else None,
        )
        found.append(Saving(fleet=own, saved_per_month=saved))
    return tuple(found)


def _month_bounds(machine: Machine, demand: Demand, reserve: Reserve) -> tuple[float, float]:
    """Monthly cost at the upper and at the lower bound of the throughput."""
    rate = machine.requests_per_s
    bounds = (rate.high or rate.value, rate.low or rate.value)
    low, high = (replicas(demand.peak_per_s, bound, reserve) for bound in bounds)
    return low * machine.price_per_hour * MONTH_H, high * machine.price_per_hour * MONTH_H


def _hourly(machine: Machine, peaks_per_s: np.ndarray, reserve: Reserve) -> np.ndarray:
    """peaks_per_s: (n,) float. Returns (n,) float; the same rule as `replicas`."""
    rate = machine.requests_per_s.value
    count = np.maximum(reserve.min_replicas, np.ceil(peaks_per_s * (1 + reserve.headroom) / rate - SLACK))
    if reserve.spare:
        count = np.maximum(count, np.ceil(peaks_per_s / rate - SLACK) + 1)
    return np.asarray(count * machine.price_per_hour)
