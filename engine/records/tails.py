"""What a plan for the slowest requests is made of."""

from __future__ import annotations

from pydantic import Field, model_validator

from engine.errors import InvalidRequest
from engine.records.base import Record
from engine.records.planning import Figures


class TailSettings(Figures):
    """What is done about slow requests, and what makes them slow. Times in ms."""

    budget: float = Field(0.02, gt=0, le=0.05, description="Share of requests that may be sent twice.")
    delay_ms: float | None = Field(None, gt=0, le=1e9, description="None: the quantile that keeps the budget.")
    utilisation: float | None = Field(None, gt=0, lt=1e6, description="Busy share of the fleet without hedging.")
    fan_out: int = Field(1, ge=1, le=100_000, description="Calls of one request that all have to come back.")
    timeout_ms: float | None = Field(None, gt=0, le=1e9, description="After which the fallback answers.")
    fallback_ms: float = Field(0.0, ge=0, le=1e9)
    cold_fraction: float = Field(0.0, ge=0, lt=1, description="Share of requests that meet a cold start.")
    cold_ms: float = Field(0.0, ge=0, le=1e9, description="Start, load and first call.")
    pause_ms: float = Field(0.0, ge=0, le=1e6, description="Length of a pause of the process, as garbage collection.")
    pause_every_s: float = Field(0.0, ge=0, le=1e6, description="Time from one pause to the next; 0: none.")

    @model_validator(mode="after")
    def _possible(self) -> TailSettings:
        if self.pause_ms and self.pause_every_s * 1000 <= self.pause_ms:
            raise InvalidRequest(
                f"a pause of {self.pause_ms:g} ms every {self.pause_every_s:g} s leaves no time to serve"
            )
        if self.cold_fraction and not self.cold_ms:
            raise InvalidRequest("a share of cold starts needs how long one takes, above 0 ms")
        return self


class TailRow(Record):
    """Latencies of one way to serve; nearest rank, None below the fewest samples a percentile needs."""

    name: str
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    p999_ms: float | None


class CorrelationRow(Record):
    """Hedging when the copy of a slow request is slow, too, with this chance."""

    correlation: float
    p99_ms: float | None
    p999_ms: float | None


class TailPlan(Record):
    """What the slowest users see, and what hedging would do about it."""

    settings: TailSettings
    n_samples: int
    delay_ms: float
    extra_fraction: float = Field(description="Requests sent twice: extra load where the loser is not cancelled.")
    extra_work: float = Field(description="Extra busy time where the loser is cancelled; below 0: slow ones end early.")
    utilisation_after: float | None = Field(description="Without cancelling.")
    hedge: bool
    why: str
    rows: tuple[TailRow, ...]
    correlations: tuple[CorrelationRow, ...]
    any_slow_fraction: float = Field(description="Chance that one of the fan-out calls is beyond its own p99.")
    leaf_quantile: float = Field(description="Quantile of one call that the p99 of the whole request rests on.")
    fan_out_ms: tuple[float | None, float | None] = Field(description="p99 of the whole request: before, hedged.")
    fallback_fraction: float | None = Field(description="Requests answered by the fallback; None without a timeout.")
