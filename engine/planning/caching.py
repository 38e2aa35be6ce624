"""What a cache before the model saves: hits, latency, traffic of the model, machines.

Hit rate of a least-recently-used cache by Che, Tung and Wang (2002), Hierarchical Web caching systems, or by replay of
a real log. A key is the hash of model version, preprocessing version and canonical features.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from scipy import optimize

from engine.errors import InvalidRequest
from engine.planning.cost import MONTH_H, replicas
from engine.records.caching import CacheFleet, CachePlan, CacheSettings
from engine.records.planning import Reserve
from engine.simulation.caching import replay

MOST_KEYS = 1_000_000
WARM_FROM = 4  # the first quarter of a log fills the cache


def zipf(n_keys: int, exponent: float) -> np.ndarray:
    """Popularity of keys: proportional to rank^-exponent; 0 is uniform. Returns (n_keys,) float64 that sums to 1."""
    if not 1 <= n_keys <= MOST_KEYS or not 0 <= exponent <= 10:
        raise InvalidRequest(
            f"Zipf takes 1 to {MOST_KEYS:,} keys and an exponent from 0 to 10, got {n_keys:,}, {exponent:g}"
        )
    weights = np.arange(1, n_keys + 1, dtype=np.float64) ** -exponent
    return np.asarray(weights / weights.sum())


def characteristic_time(popularity: np.ndarray, capacity: int) -> float:
    """In requests: how long an answer stays that is not asked for; infinite where everything fits."""
    if capacity >= len(popularity):
        return math.inf
    high = float(capacity) or 1.0
    while _held(popularity, high) < capacity:
        high *= 2
    return float(optimize.brentq(lambda t: _held(popularity, t) - capacity, 0.0, high, xtol=1e-9))


def che(popularity: np.ndarray, capacity: int) -> float:
    """Hit rate of a warm least-recently-used cache with independent requests."""
    time = characteristic_time(popularity, capacity)
    return 1.0 if math.isinf(time) else float((popularity * -np.expm1(-popularity * time)).sum())


def che_with_ttl(popularity: np.ndarray, capacity: int, rate_per_s: float, ttl_s: float) -> float:
    """The smaller of what the capacity and what the age allows, key by key: an upper bound."""
    time = characteristic_time(popularity, capacity)
    held = np.ones(len(popularity)) if math.isinf(time) else -np.expm1(-popularity * time)
    return float((popularity * np.minimum(held, ttl_hits(popularity * rate_per_s, ttl_s))).sum())


def ttl_hits(rate_per_s: np.ndarray | float, ttl_s: float) -> np.ndarray | float:
    """Hit rate of a key asked for at this rate whose answer is used up to an age: λT / (1 + λT)."""
    return rate_per_s * ttl_s / (1 + rate_per_s * ttl_s)


def plan_from_log(keys: Sequence[str], settings: CacheSettings) -> CachePlan:
    """By replay of a log in its order. Raises InvalidRequest for an empty one."""
    if not keys:
        raise InvalidRequest("no traffic: the key log is empty")
    gap_s, ttl_s = 1 / settings.rate_per_s, math.inf if settings.ttl_s is None else settings.ttl_s
    counts = Counter(keys)
    top = sum(count for _, count in counts.most_common(settings.capacity)) / len(keys)

    def warm(capacity: int) -> float:
        return float(replay(keys, capacity, gap_s, ttl_s)[len(keys) // WARM_FROM :].mean())

    return _plan(
        settings,
        f"replay of {len(keys):,} requests, the first quarter to warm up",
        len(counts),
        warm,
        top,
        float(replay(keys, settings.capacity, gap_s, ttl_s).mean()),
    )


def plan_from_zipf(n_keys: int, exponent: float, settings: CacheSettings) -> CachePlan:
    """By Che's approximation for Zipf popularity."""
    popularity, ttl_s = zipf(n_keys, exponent), settings.ttl_s

    def warm(capacity: int) -> float:
        if ttl_s is None:
            return che(popularity, capacity)
        return che_with_ttl(popularity, capacity, settings.rate_per_s, ttl_s)

    how = f"Che's approximation, Zipf {exponent:g} over {n_keys:,} keys, independent requests"
    return _plan(settings, how, n_keys, warm, float(popularity[: settings.capacity].sum()), None)


def _plan(
    settings: CacheSettings,
    how: str,
    n_keys: int,
    warm: Callable[[int], float],
    best: float,
    from_empty: float | None,
) -> CachePlan:
    hits = warm(settings.capacity)
    sizes = sorted({max(settings.capacity * 2**power // 8, 1) for power in range(7)}) if settings.capacity else []
    miss_ms = settings.lookup_ms + settings.model_ms
    return CachePlan(
        settings=settings,
        how=how,
        n_keys=n_keys,
        hit_fraction=hits,
        hit_fraction_from_empty=from_empty,
        best_fraction=best,
        curve=tuple((size, warm(size)) for size in sizes),
        mean_ms=hits * settings.hit_ms + (1 - hits) * miss_ms,
        improves_p99=hits > 0.99,
        model_per_s=settings.rate_per_s * (1 - hits),
        fleet=_fleet(settings, hits),
    )


def _fleet(settings: CacheSettings, hits: float) -> CacheFleet | None:
    if settings.replica_per_s is None:
        return None
    reserve = Reserve(headroom=settings.headroom, min_replicas=settings.min_replicas)
    whole = replicas(settings.rate_per_s, settings.replica_per_s, reserve)
    warm = replicas(settings.rate_per_s * (1 - hits), settings.replica_per_s, reserve)
    price, cache = settings.price_per_hour * MONTH_H, settings.cache_price_per_hour * MONTH_H
    return CacheFleet(
        without=whole,
        warm=warm,
        cold=whole,
        cost_without_per_month=whole * price,
        cost_warm_per_month=warm * price + cache,
        cost_cold_per_month=whole * price + cache,
    )


def _held(popularity: np.ndarray, time: float) -> float:
    """Answers that are held on average when each stays so long."""
    return float(-np.expm1(-popularity * time).sum())
