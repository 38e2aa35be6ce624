"""What a plan is made of: demand, machines, the limits that are set, and the fleets that follow."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import ConfigDict, Field, model_validator

from engine.errors import InvalidRequest
from engine.records.base import Record
from engine.records.results import Interval

Rate = Annotated[float, Field(ge=0, le=1e9)]  # per second


class Figures(Record):
    """Base of what people type in: numbers must be finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Demand(Figures):
    """Traffic. A day is split into equal parts; without one, the average is the peak unless it is given."""

    peak_per_s: float = Field(gt=0, le=1e9, description="Requests per second at the busiest time.")
    average_per_s: float | None = Field(None, ge=0, le=1e9, description="None: the mean of the day, else the peak.")
    day_per_s: tuple[Rate, ...] = Field((), max_length=10_000, description="Requests/s by part of a day, as 24 hours.")
    arrival_variation: float = Field(1.0, ge=0, le=1e6, description="Squared coefficient of variation of the gaps.")

    @model_validator(mode="after")
    def _consistent(self) -> Demand:
        if self.mean_per_s <= 0:
            raise InvalidRequest("no traffic: an average of 0 requests/s cannot carry a cost per 1,000")
        if self.day_per_s and max(self.day_per_s) > self.peak_per_s:
            raise InvalidRequest(
                f"the day reaches {max(self.day_per_s):,g} requests/s, above the peak of {self.peak_per_s:,g}"
            )
        if self.average_per_s is not None and self.average_per_s > self.peak_per_s:
            raise InvalidRequest(
                f"the average of {self.average_per_s:,g} requests/s is above the peak of {self.peak_per_s:,g}"
            )
        return self

    @property
    def mean_per_s(self) -> float:
        """What an average moment sees."""
        if self.average_per_s is not None:
            return self.average_per_s
        return sum(self.day_per_s) / len(self.day_per_s) if self.day_per_s else self.peak_per_s


class Reserve(Figures):
    """How much more than the peak is bought."""

    headroom: float = Field(0.3, ge=0, le=10, description="Share of the peak that is added to it.")
    min_replicas: int = Field(2, ge=1, le=100_000)
    spare: bool = Field(False, description="N+1: the peak still fits after one replica is lost.")


class Machine(Figures):
    """A type of machine with one replica on it."""

    name: str = Field(min_length=1, max_length=80)
    requests_per_s: Interval = Field(description="Of one replica at full use, with its 95 % interval where measured.")
    price_per_hour: float = Field(ge=0, le=1e9)
    service_variation: float = Field(
        1.0, ge=0, le=1e6, description="Squared coefficient of variation of a call's time."
    )

    @model_validator(mode="after")
    def _works(self) -> Machine:
        rate = self.requests_per_s
        for bound in (rate.value, rate.low, rate.high):
            if bound is not None and not (0 < bound <= 1e9 and math.isfinite(bound)):
                raise InvalidRequest(f"{self.name}: requests/s must be above 0 and at most 1e9, got {bound:g}")
        return self


class QueueCheck(Record):
    """How long requests wait at the peak. Erlang C: exponential service, one queue before all replicas."""

    busy_fraction: float
    waits_fraction: float = Field(description="Share of requests that wait at all.")
    mean_wait_ms: float
    p99_wait_ms: float
    p99_ms: float = Field(description="Waiting and service.")
    adjusted_mean_wait_ms: float = Field(description="Allen-Cunneen, with the variation that was given.")


class Fleet(Record):
    """One machine type, as many as the peak needs."""

    machine: Machine
    n_replicas: int
    exact_replicas: float = Field(description="Before rounding up and before the minimum.")
    why: str = Field(description="What decided the number: the peak, the minimum, or a lost replica.")
    cost_per_month: float = Field(description="30 days of 24 hours.")
    cost_per_1k_full: float = Field(description="Per 1,000 requests when every replica is always busy.")
    cost_per_1k_real: float = Field(description="Per 1,000 requests at the average traffic.")
    busy_fraction: float = Field(description="At the peak.")
    busy_fraction_one_lost: float | None = Field(description="At the peak after one replica is lost; None: none left.")
    queue: QueueCheck | None = Field(description="None: no capacity is left over at the peak, a queue grows for ever.")


class SloFleet(Record):
    """Fewest replicas that keep a limit on the p99 of waiting and service at the peak."""

    machine: str
    limit_ms: float
    n_replicas: int | None = Field(description="None: no number does.")
    why: str = ""


class DayCost(Record):
    """A machine type that follows the day without delay: a lower bound, for no replica starts at once."""

    machine: str
    replicas: tuple[int, ...] = Field(description="By part of the day.")
    replica_hours: float
    cost_per_day: float
    static_cost_per_day: float = Field(description="Of as many replicas as the busiest part needs, all day.")
    cost_per_1k: float
    static_cost_per_1k: float


class BreakEven(Record):
    """Where one machine type becomes cheaper than another and stays so."""

    cheaper: str
    dearer: str
    peak_per_s: int | None = Field(description="Whole requests/s; None: not up to 20 million.")


class CostPlan(Record):
    """Machine types side by side for one demand."""

    demand: Demand
    reserve: Reserve
    currency: str
    fleets: tuple[Fleet, ...]
    break_evens: tuple[BreakEven, ...] = Field(description="Of the type that is cheapest at full use, by other type.")
    day: tuple[DayCost, ...] = Field(description="Empty without a day.")
    slo_fleets: tuple[SloFleet, ...] = Field(description="Empty without a limit on p99.")

    @property
    def cheapest(self) -> Fleet:
        """The cheapest fleet at this demand; the first of equals."""
        return min(self.fleets, key=lambda fleet: fleet.cost_per_month)

    @property
    def break_even_peak(self) -> int | None:
        """From which peak on the type that is cheapest at full use is the cheapest of all; None where never."""
        peaks = [one.peak_per_s for one in self.break_evens]
        return max((peak for peak in peaks if peak is not None), default=None) if None not in peaks else None


class Saving(Record):
    """A variant's fleet beside the baseline's."""

    fleet: Fleet
    saved_per_month: Interval = Field(description="Below 0: it costs more. Bounds from those of the throughputs.")
