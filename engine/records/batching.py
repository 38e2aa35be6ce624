"""What a batching plan is made of: how long a call takes, what was tried, and what was chosen."""

from __future__ import annotations

from pydantic import Field, model_validator

from engine.errors import InvalidRequest
from engine.records.base import Record
from engine.records.planning import Figures


class ServiceProfile(Figures):
    """Time of a call by its number of requests: fixed + per item · n, or measured points with lines between them."""

    fixed_ms: float = Field(0.0, ge=0, le=1e9)
    per_item_ms: float = Field(0.0, ge=0, le=1e9)
    points: tuple[tuple[int, float], ...] = Field((), description="(batch, ms) ascending; empty: the line stands.")

    @model_validator(mode="after")
    def _takes_time(self) -> ServiceProfile:
        if self.points:
            sizes = [size for size, _ in self.points]
            if sizes != sorted(set(sizes)) or sizes[0] != 1 or min(ms for _, ms in self.points) <= 0:
                raise InvalidRequest("measured call times need a batch of 1, ascending batches and times above 0")
        elif self.fixed_ms + self.per_item_ms <= 0:
            raise InvalidRequest("a call takes time: fixed and per item are both 0 ms")
        return self

    @property
    def how(self) -> str:
        """The formula in words."""
        if self.points:
            return f"measured at batches {', '.join(str(size) for size, _ in self.points)}, lines between them"
        return f"call time = {self.fixed_ms:g} ms + {self.per_item_ms:g} ms per request"


class Load(Record):
    """Latencies of one setting under one traffic, waiting counted; nearest-rank percentiles."""

    p50_ms: float
    p95_ms: float
    p99_ms: float
    mean_batch: float
    busy_fraction: float = Field(description="Of the instances, mean.")


class Setting(Record):
    """One cap and wait. peak is None where the cap cannot keep up with the peak and its headroom."""

    cap: int
    wait_ms: float
    capacity_per_s: float
    peak: Load | None
    meets_budget: bool


class BatchingPlan(Record):
    """Which cap and wait, and what they do at the peak and at low traffic."""

    profile: ServiceProfile
    rate_per_s: float
    low_per_s: float
    p95_budget_ms: float
    headroom: float
    n_instances: int
    n_requests: int
    seed: int
    grid: tuple[Setting, ...]
    chosen: Setting | None = Field(description="Smallest cap, then smallest wait, within the budget; None: none is.")
    least: Setting | None = Field(description="The smallest setting within 1 % of the least p95; None: none keeps up.")
    n_replicas: int | None = Field(description="Without a choice: replicas that share the traffic and keep the budget.")
    low: Load | None = Field(description="The setting that is chosen, else that of least p95, at low traffic.")
    low_without_wait: Load | None = Field(description="The same cap without waiting.")
    saturated_batch: float | None = Field(description="Mean batch when no instance rests; None: a table, or none.")
    safe_cap: int | None = Field(description="Largest cap whose two calls fit the budget, whatever the traffic.")
