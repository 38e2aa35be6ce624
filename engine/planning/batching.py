"""Which batch cap and which longest wait keep a p95 budget, by simulating every request."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.errors import InvalidRequest
from engine.records.batching import BatchingPlan, Load, ServiceProfile, Setting
from engine.simulation.arrivals import poisson
from engine.simulation.batching import simulate

CAPS = (1, 2, 4, 8, 16, 32, 64, 128)
WAITS_MS = (0.0, 1.0, 2.0, 5.0, 10.0)
N_REQUESTS = 200_000
DROPPED = 0.1  # first part of a simulation, before it has settled
LOW = 0.1  # low traffic, as a share of the peak, where it is not given
ALIKE = 1.01  # p95s of a simulation closer than that are the same
MOST_REPLICAS = 4096
LARGEST_CAP = 65_536
SLACK = 1e-9


def call_times_ms(profile: ServiceProfile, cap: int) -> np.ndarray:
    """(cap + 1,) float64: time of a call by its number of requests; entry 0 means nothing.

    Raises InvalidRequest beyond the largest measured batch, where no line may be followed.
    """
    sizes = np.arange(cap + 1, dtype=float)
    if not profile.points:
        return np.asarray(profile.fixed_ms + profile.per_item_ms * sizes)
    measured, times = zip(*profile.points, strict=True)
    if cap > measured[-1]:
        raise InvalidRequest(f"batches up to {measured[-1]} were measured; a cap of {cap} is outside: measure it")
    return np.asarray(np.interp(sizes, measured, times))


def capacity_per_s(profile: ServiceProfile, cap: int, n_instances: int = 1) -> float:
    """Requests/s when every call is full: below that, and only below, a queue stays finite."""
    return float(1000 * n_instances * cap / call_times_ms(profile, cap)[cap])


def saturated_batch(profile: ServiceProfile, rate_per_s: float, n_instances: int = 1) -> float | None:
    """Mean batch of instances that never rest: λa / (c − λb), λ per ms; None for a table or beyond 1/b."""
    per_ms = rate_per_s / 1000
    left = n_instances - per_ms * profile.per_item_ms
    return None if profile.points or left <= 0 else per_ms * profile.fixed_ms / left


def safe_cap(profile: ServiceProfile, budget_ms: float, wait_ms: float = 0.0) -> int | None:
    """Largest cap with which waiting for one full call and being in the next keeps the budget; None for a table."""
    if profile.points or profile.per_item_ms == 0:
        return None
    return max(0, math.floor(((budget_ms - wait_ms) / 2 - profile.fixed_ms) / profile.per_item_ms + SLACK))


def load(profile: ServiceProfile, cap: int, wait_ms: float, arrivals_ms: np.ndarray, n_instances: int = 1) -> Load:
    """Simulate one setting on arrivals (n,) ascending ms, without the first tenth in the percentiles."""
    done = simulate(arrivals_ms, call_times_ms(profile, cap), wait_ms, n_instances=n_instances)
    settled = done.latency_ms[int(len(arrivals_ms) * DROPPED) :]
    p50, p95, p99 = np.quantile(settled, (0.5, 0.95, 0.99), method="inverted_cdf")
    return Load(
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
        mean_batch=done.sizes.mean(),
        busy_fraction=min(1.0, done.busy_ms / n_instances / arrivals_ms[-1]),
    )


def plan_batching(
    profile: ServiceProfile,
    rate_per_s: float,
    p95_budget_ms: float,
    *,
    low_per_s: float | None = None,
    headroom: float = 0.3,
    n_instances: int = 1,
    caps: Sequence[int] | None = None,
    waits_ms: Sequence[float] = WAITS_MS,
    n_requests: int = N_REQUESTS,
    seed: int = 42,
) -> BatchingPlan:
    """The smallest cap, then the smallest wait, whose simulated p95 at the peak keeps the budget.

    Caps that cannot carry the peak with its headroom are left out. Poisson arrivals, the same for every setting; low
    traffic is a tenth of the peak unless given. Raises InvalidRequest for values nothing can be planned with: no
    traffic, or a budget below the time of a call.
    """
    low_per_s = rate_per_s * LOW if low_per_s is None else low_per_s
    caps = sorted(set(_measured(profile, CAPS) if caps is None else caps))
    waits_ms = sorted(set(waits_ms))
    _check(profile, rate_per_s, low_per_s, p95_budget_ms, headroom, n_instances, caps, waits_ms, n_requests)
    arrivals = 1000 * poisson(rate_per_s, n_requests, seed)
    grid = []
    for cap in caps:
        capacity = capacity_per_s(profile, cap, n_instances)
        for wait in waits_ms:
            fits = capacity >= rate_per_s * (1 + headroom) and capacity > rate_per_s
            peak = load(profile, cap, wait, arrivals, n_instances) if fits else None
            kept = peak is not None and peak.p95_ms <= p95_budget_ms
            grid.append(Setting(cap=cap, wait_ms=wait, capacity_per_s=capacity, peak=peak, meets_budget=kept))
    chosen = next((setting for setting in grid if setting.meets_budget), None)
    running = [setting for setting in grid if setting.peak is not None]
    lowest_ms = min((setting.peak.p95_ms for setting in running if setting.peak), default=math.inf)
    least = next((one for one in running if one.peak and one.peak.p95_ms <= lowest_ms * ALIKE), None)
    shown = chosen or least
    mean_batch = saturated_batch(profile, rate_per_s, n_instances)
    quiet = 1000 * poisson(low_per_s, n_requests, seed)
    return BatchingPlan(
        profile=profile,
        rate_per_s=rate_per_s,
        low_per_s=low_per_s,
        p95_budget_ms=p95_budget_ms,
        headroom=headroom,
        n_instances=n_instances,
        n_requests=n_requests,
        seed=seed,
        grid=tuple(grid),
        chosen=chosen,
        least=least,
        n_replicas=None
        if chosen
        else _replicas(profile, rate_per_s * (1 + headroom), p95_budget_ms, n_instances, caps),
        low=load(profile, shown.cap, shown.wait_ms, quiet, n_instances) if shown else None,
        low_without_wait=load(profile, shown.cap, 0.0, quiet, n_instances) if shown else None,
        saturated_batch=mean_batch if mean_batch is not None and mean_batch <= caps[-1] else None,
        safe_cap=safe_cap(profile, p95_budget_ms),
    )


def _replicas(
    profile: ServiceProfile, rate_per_s: float, budget_ms: float, n_instances: int, caps: Sequence[int]
) -> int | None:
    """Fewest replicas that share the traffic evenly and keep the budget without waiting; None above MOST_REPLICAS."""

    def kept(n_replicas: int) -> bool:
        share = rate_per_s / n_replicas
        arrivals = 1000 * poisson(share, N_REQUESTS // 4, seed=42)
        return any(
            load(profile, cap, 0.0, arrivals, n_instances).p95_ms <= budget_ms
            for cap in caps
            if capacity_per_s(profile, cap, n_instances) > share
        )

    low, high = 0, 1
    while not kept(high):
        low, high = high, 2 * high
        if high > MOST_REPLICAS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if kept(middle) else (middle, high)
    return high


def _measured(profile: ServiceProfile, caps: Sequence[int]) -> list[int]:
    return [cap for cap in caps if not profile.points or cap <= profile.points[-1][0]]


def _check(
    profile: ServiceProfile,
    rate_per_s: float,
    low_per_s: float,
    budget_ms: float,
    headroom: float,
    n_instances: int,
    caps: Sequence[int],
    waits_ms: Sequence[float],
    n_requests: int,
) -> None:
    for name, value in (("traffic", rate_per_s), ("low traffic", low_per_s)):
        if not 0 < value <= 1e9:
            raise InvalidRequest(f"{name} must be above 0 requests/s and at most 1e9, got {value:g}")
    if not 0 <= headroom <= 10:
        raise InvalidRequest(f"headroom must be between 0 and 10, got {headroom:g}")
    if not 1 <= n_instances <= 1000:
        raise InvalidRequest(f"instances must be between 1 and 1,000, got {n_instances:,}")
    if not caps or not all(1 <= cap <= LARGEST_CAP for cap in caps):
        raise InvalidRequest(f"caps must be between 1 and {LARGEST_CAP:,}, got {', '.join(map(str, caps)) or 'none'}")
    if not waits_ms or not all(0 <= wait <= 60_000 for wait in waits_ms):
        raise InvalidRequest(
            f"waits must be between 0 and 60,000 ms, got {', '.join(f'{wait:g}' for wait in waits_ms) or 'none'}"
        )
    if len(caps) * len(waits_ms) > 200 or not 1000 <= n_requests <= 5_000_000:
        raise InvalidRequest("at most 200 settings of 1,000 to 5,000,000 requests each can be simulated")
    alone_ms = float(call_times_ms(profile, 1)[1])
    if not budget_ms >= alone_ms:
        raise InvalidRequest(
            f"a p95 of {budget_ms:g} ms cannot be kept: a call of one request alone takes {alone_ms:g} ms"
        )
    if not math.isfinite(budget_ms):
        raise InvalidRequest("the p95 budget must be a finite number of milliseconds")
