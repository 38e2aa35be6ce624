"""What an autoscaling plan is made of: the fleet, the rules that scale it, and what a run of it gave."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from engine.errors import InvalidRequest
from engine.records.base import Record
from engine.records.planning import Figures

Seconds = Annotated[float, Field(ge=0, le=1e6)]
Signal = Literal["cpu", "requests", "in_flight"]


class FleetSettings(Figures):
    """What every replica of a fleet is like, and what users are promised."""

    min_replicas: int = Field(2, ge=0, le=10_000)
    max_replicas: int = Field(100, ge=1, le=10_000)
    initial_replicas: int | None = Field(None, ge=0, le=10_000, description="When the trace begins; None: the minimum.")
    concurrency: int = Field(1, ge=1, le=1000, description="Requests that a replica serves side by side.")
    startup_s: tuple[Seconds, ...] = Field((60.0,), min_length=1, max_length=10_000, description="Drawn from, by seed.")
    load_s: Seconds = Field(0.0, description="Loading the model, after the start and before the replica is ready.")
    first_call_s: Seconds = Field(0.0, description="Least time of a replica's first request; 0 where it is warmed up.")
    timeout_s: float | None = Field(None, gt=0, le=1e6, description="After which a waiting client gives up.")
    max_waiting: int | None = Field(None, ge=0, description="Longest queue; who comes then is turned away at once.")
    slo_ms: float = Field(200.0, gt=0, le=1e9)
    price_per_hour: float = Field(0.0, ge=0, le=1e9)

    @model_validator(mode="after")
    def _ordered(self) -> FleetSettings:
        if self.min_replicas > self.max_replicas:
            raise InvalidRequest(f"min replicas {self.min_replicas} are more than max replicas {self.max_replicas}")
        first = self.first
        if not self.min_replicas <= first <= self.max_replicas:
            raise InvalidRequest(f"{first} replicas at first lie outside {self.min_replicas} to {self.max_replicas}")
        return self

    @property
    def first(self) -> int:
        """Replicas that are ready when the trace begins."""
        return self.min_replicas if self.initial_replicas is None else self.initial_replicas

    @property
    def cold_start_s(self) -> float:
        """Mean start, load and first call: what the first request of an empty fleet waits."""
        return sum(self.startup_s) / len(self.startup_s) + self.load_s + self.first_call_s


class Policy(Figures):
    """At most so many pods, or per cent of the replicas, within a period."""

    kind: Literal["pods", "percent"]
    value: int = Field(ge=1, le=100_000)
    period_s: float = Field(ge=1, le=1800)


class Hpa(Figures):
    """The Horizontal Pod Autoscaler of Kubernetes with its documented defaults."""

    kind: Literal["hpa"] = "hpa"
    signal: Signal = "cpu"
    target: float = Field(0.6, gt=0, le=1e6, description="Per replica: busy share, requests/s, or requests in flight.")
    tolerance: float = Field(0.1, ge=0, le=1)
    sync_s: float = Field(15.0, ge=1, le=600)
    metric_window_s: float = Field(60.0, ge=1, le=3600, description="What cpu and requests/s are averaged over.")
    up_window_s: float = Field(0.0, ge=0, le=3600)
    down_window_s: float = Field(300.0, ge=0, le=3600)
    up: tuple[Policy, ...] = (
        Policy(kind="pods", value=4, period_s=15),
        Policy(kind="percent", value=100, period_s=15),
    )
    down: tuple[Policy, ...] = (Policy(kind="percent", value=100, period_s=15),)

    @model_validator(mode="after")
    def _reachable(self) -> Hpa:
        if self.signal == "cpu" and self.target > 1:
            raise InvalidRequest(f"a cpu target is a share of one replica, above 0 and at most 1; got {self.target:g}")
        return self

    @property
    def look_s(self) -> float:
        """Time from one look to the next."""
        return self.sync_s


class Keda(Figures):
    """KEDA: it wakes a fleet from zero and puts it to rest; from one replica on the HPA decides."""

    kind: Literal["keda"] = "keda"
    hpa: Hpa = Hpa(signal="requests", target=30.0)
    polling_s: float = Field(30.0, ge=0, le=3600, description="0: whoever comes is seen at once, as by an HTTP add-on.")
    cooldown_s: float = Field(300.0, ge=0, le=86_400, description="Quiet time before zero; not used from one on.")
    activation: float = Field(0.0, ge=0, le=1e9, description="Total signal above which an empty fleet wakes.")

    @model_validator(mode="after")
    def _wakes(self) -> Keda:
        if self.hpa.signal == "cpu":
            raise InvalidRequest("cpu cannot wake an empty fleet: no replica, no cpu; use requests or in_flight")
        return self

    @property
    def signal(self) -> Signal:
        """What it scales by."""
        return self.hpa.signal

    @property
    def target(self) -> float:
        """Of the signal, per replica."""
        return self.hpa.target

    @property
    def look_s(self) -> float:
        """Shortest time from one look to the next."""
        return min(self.polling_s or self.hpa.sync_s, self.hpa.sync_s)


class Knative(Figures):
    """The Knative Pod Autoscaler with its documented defaults; it scales by requests in flight."""

    kind: Literal["knative"] = "knative"
    target: float = Field(70.0, gt=0, le=1e6, description="In flight per replica: 70 % of a container target of 100.")
    tick_s: float = Field(2.0, ge=0.5, le=60)
    stable_window_s: float = Field(60.0, ge=6, le=3600)
    panic_fraction: float = Field(0.1, gt=0, le=1, description="Panic window as a share of the stable one.")
    panic_threshold: float = Field(2.0, ge=1.1, le=10, description="Wanted over ready replicas that means panic.")
    up_rate: float = Field(1000.0, gt=1, le=1e6, description="Most growth per tick, times.")
    down_rate: float = Field(2.0, gt=1, le=1e6, description="Most shrinking per tick, times.")
    grace_s: float = Field(30.0, ge=0, le=3600, description="Kept after the load is gone, before zero.")

    @property
    def signal(self) -> Signal:
        """What it scales by."""
        return "in_flight"

    @property
    def look_s(self) -> float:
        """Time from one look to the next."""
        return self.tick_s


class RayServe(Figures):
    """The autoscaler of Ray Serve with its defaults; it scales by ongoing requests."""

    kind: Literal["ray_serve"] = "ray_serve"
    target: float = Field(2.0, gt=0, le=1e6, description="Ongoing requests per replica.")
    look_back_s: float = Field(30.0, ge=1, le=3600)
    up_delay_s: float = Field(30.0, ge=0, le=3600)
    down_delay_s: float = Field(600.0, ge=0, le=86_400)
    up_factor: float = Field(1.0, gt=0, le=100, description="Of the step upwards.")
    down_factor: float = Field(1.0, gt=0, le=100, description="Of the step downwards.")
    loop_s: float = Field(0.1, ge=0.1, le=60)

    @property
    def signal(self) -> Signal:
        """What it scales by."""
        return "in_flight"

    @property
    def look_s(self) -> float:
        """Time from one look to the next."""
        return self.loop_s


Rules = Hpa | Keda | Knative | RayServe


class Timeline(Record):
    """The fleet when the scaler looked at it; all of one length."""

    time_s: tuple[float, ...]
    ready: tuple[int, ...]
    starting: tuple[int, ...]
    waiting: tuple[int, ...]
    requests_per_s: tuple[float, ...] = Field(description="That came since the point before.")


class FleetRun(Record):
    """What one fleet did with the trace. Percentiles count who got no answer as endless: None when one reaches them."""

    name: str
    n_requests: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    n_timed_out: int
    n_shed: int
    n_unanswered: int = Field(description="Still waiting an hour after the last request came.")
    n_minutes: int = Field(description="Minutes in which requests came.")
    bad_minutes: int = Field(description="Minutes with over 1 % of requests beyond the SLO or without an answer.")
    replica_hours: float = Field(description="Paid from the order of a replica until it has drained.")
    cost: float
    n_cold_starts: int = Field(description="Times that an empty fleet was woken.")
    n_started: int = Field(description="Replicas ordered after the beginning.")
    most_replicas: int
    timeline: Timeline


class AutoscalePlan(Record):
    """A scaled fleet beside static ones, and what follows."""

    fleet: FleetSettings
    scaler: Rules
    peak_per_s: float = Field(description="Of the busiest minute.")
    mean_per_s: float
    duration_s: float
    service_ms: float
    static: FleetRun
    scaled: FleetRun
    tried: tuple[tuple[float, FleetRun], ...] = Field((), description="(target, run) of other targets.")
    warnings: tuple[str, ...]

    @property
    def best(self) -> tuple[float, FleetRun] | None:
        """Target and run with the fewest replica-hours of those that pay; None: keep the static fleet.

        It pays when it takes fewer replica-hours than the static fleet and no more minutes lie beyond the SLO.
        """
        paying = [
            (target, run)
            for target, run in ((self.scaler.target, self.scaled), *self.tried)
            if run.replica_hours < self.static.replica_hours and run.bad_minutes <= self.static.bad_minutes
        ]
        return min(paying, key=lambda one: one[1].replica_hours, default=None)
