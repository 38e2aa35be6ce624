"""What a plan for a cache before the model is made of."""

from __future__ import annotations

from pydantic import Field

from engine.records.base import Record
from engine.records.planning import Figures


class CacheSettings(Figures):
    """A cache, the traffic, and the model behind it."""

    capacity: int = Field(ge=0, le=100_000_000, description="Answers that it holds; the least recently used leaves.")
    rate_per_s: float = Field(gt=0, le=1e9)
    ttl_s: float | None = Field(None, gt=0, le=1e9, description="Age after which an answer is not used any more.")
    hit_ms: float = Field(1.0, ge=0, le=1e9)
    lookup_ms: float = Field(1.0, ge=0, le=1e9, description="Spent before a miss is known.")
    model_ms: float = Field(gt=0, le=1e9, description="Mean time of the model.")
    replica_per_s: float | None = Field(None, gt=0, le=1e9, description="Requests/s of one replica; for the money.")
    price_per_hour: float = Field(0.0, ge=0, le=1e9, description="Of a replica.")
    cache_price_per_hour: float = Field(0.0, ge=0, le=1e9)
    headroom: float = Field(0.3, ge=0, le=10)
    min_replicas: int = Field(1, ge=1, le=100_000)


class CacheFleet(Record):
    """Replicas with a warm cache, and with an empty one."""

    without: int
    warm: int
    cold: int = Field(description="While the cache is empty every request reaches the model.")
    cost_without_per_month: float
    cost_warm_per_month: float = Field(description="With the cache; only if an empty one may be slow.")
    cost_cold_per_month: float = Field(description="With the cache; safe when it is emptied.")


class CachePlan(Record):
    """What the cache does to hits, latency and the model's traffic."""

    settings: CacheSettings
    how: str = Field(description="Where the hit rate comes from.")
    n_keys: int
    hit_fraction: float = Field(description="Once it is warm.")
    hit_fraction_from_empty: float | None = Field(description="Over the whole key log; None without one.")
    best_fraction: float = Field(description="If it always held the most asked keys: no rule does better for long.")
    curve: tuple[tuple[int, float], ...] = Field(description="(capacity, hit fraction).")
    mean_ms: float
    improves_p99: bool
    model_per_s: float = Field(description="Requests that still reach the model.")
    fleet: CacheFleet | None
