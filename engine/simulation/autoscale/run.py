"""Send a trace through a fleet and say what users saw and what was paid."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from engine.errors import InvalidRequest
from engine.records.autoscaling import FleetRun, FleetSettings, Keda, Knative, RayServe, Rules, Timeline
from engine.simulation.autoscale.advance import SERVED, SHED, TIMED_OUT
from engine.simulation.autoscale.fleet import Fleet, View
from engine.simulation.autoscale.hpa import HpaScaler
from engine.simulation.autoscale.keda import KedaScaler
from engine.simulation.autoscale.knative import KnativeScaler
from engine.simulation.autoscale.ray_serve import RayServeScaler
from engine.simulation.queue import as_traffic

GIVE_UP_S = 3600.0  # after the last arrival
LONGEST_S = 14 * 86_400.0
MOST_POINTS = 2000
MOST_LOOKS = 1_000_000


class Scaler(Protocol):
    """Looks at a fleet from time to time and says how many replicas it wants."""

    wakes: bool  # called at the request that finds the fleet empty

    @property
    def due_s(self) -> float:
        """When it looks next."""

    def decide(self, view: View) -> int:
        """Replicas from now on."""


class StaticScaler:
    """Keeps the number; looks only for the timeline."""

    wakes = False

    def __init__(self, n_replicas: int) -> None:
        self.n_replicas, self.due_s = n_replicas, 15.0

    def decide(self, view: View) -> int:
        """The number it was given."""
        self.due_s = view.now_s + 15.0
        return self.n_replicas


def static(n_replicas: int, fleet: FleetSettings) -> FleetSettings:
    """The same replicas in a fleet of fixed size."""
    values = fleet.model_dump() | {
        "min_replicas": n_replicas,
        "max_replicas": n_replicas,
        "initial_replicas": n_replicas,
    }
    return FleetSettings(**values)


def simulate(
    arrivals_s: np.ndarray, services_s: np.ndarray, settings: FleetSettings, rules: Rules | None, seed: int = 0
) -> FleetRun:
    """The whole trace, exactly, for its start-up times. rules None: a static fleet of the first replicas.

    arrivals_s, services_s: (n,) float. Raises InvalidRequest for no traffic, a trace of over 14 days, or a minimum of
    0 under an HPA.
    """
    arrivals, services = as_traffic(arrivals_s, services_s)
    if arrivals[-1] > LONGEST_S:
        raise InvalidRequest(f"a trace is at most 14 days long, this one is {arrivals[-1] / 86_400:,.1f}")
    if rules is not None and arrivals[-1] / rules.look_s > MOST_LOOKS:
        raise InvalidRequest(
            f"a look every {rules.look_s:g} s in a trace of {arrivals[-1]:,.0f} s is more than {MOST_LOOKS:,} looks: "
            "give a shorter trace or look more seldom"
        )
    fleet = Fleet(arrivals, services, settings, seed)
    scaler = _scaler(rules, settings)
    drawn = _drive(fleet, scaler, settings)
    name = "static" if rules is None else rules.kind
    return _outcome(name, fleet, settings, drawn)


def _scaler(rules: Rules | None, settings: FleetSettings) -> Scaler:
    if rules is None:
        return StaticScaler(settings.first)
    if isinstance(rules, Keda):
        return KedaScaler(rules, settings.first, settings.min_replicas)
    if isinstance(rules, Knative):
        return KnativeScaler(rules)
    if isinstance(rules, RayServe):
        return RayServeScaler(rules)
    if not settings.min_replicas or not settings.first:
        raise InvalidRequest("an HPA keeps at least 1 replica; to scale to 0 use KEDA")
    return HpaScaler(rules, settings.first)


def _drive(fleet: Fleet, scaler: Scaler, settings: FleetSettings) -> Timeline:
    give_up_s = float(fleet.arrivals[-1]) + GIVE_UP_S
    apart_s = float(fleet.arrivals[-1]) / MOST_POINTS
    points: list[tuple[float, View]] = []
    while not fleet.done and fleet.now_s < give_up_s:
        fleet.advance(min(scaler.due_s, give_up_s), wakes=scaler.wakes)
        view = fleet.view
        wanted = min(max(scaler.decide(view), settings.min_replicas), settings.max_replicas)
        if not points or view.now_s - points[-1][0] >= apart_s or wanted != view.n_current:
            points.append((view.now_s, view))
        if wanted != view.n_current:
            fleet.scale_to(wanted)
    return _timeline(points)


def _timeline(points: list[tuple[float, View]]) -> Timeline:
    times = [0.0, *(at for at, _ in points)]
    came = [0, *(view.n_arrived for _, view in points)]
    rates = [
        (came[i + 1] - came[i]) / (times[i + 1] - times[i]) if times[i + 1] > times[i] else 0.0
        for i in range(len(points))
    ]
    return Timeline(
        time_s=tuple(times[1:]),
        ready=tuple(view.n_ready for _, view in points),
        starting=tuple(view.n_starting for _, view in points),
        waiting=tuple(view.n_waiting for _, view in points),
        requests_per_s=tuple(rates),
    )


def _outcome(name: str, fleet: Fleet, settings: FleetSettings, timeline: Timeline) -> FleetRun:
    taken_s = np.where(fleet.outcome == SERVED, fleet.finishes - fleet.arrivals, math.inf)
    if settings.timeout_s is not None:
        taken_s[taken_s > settings.timeout_s] = math.inf
    minutes = (fleet.arrivals // 60).astype(np.int64)
    _, begins, counts = np.unique(minutes, return_index=True, return_counts=True)
    beyond = np.add.reduceat((taken_s > settings.slo_ms / 1000).astype(np.int64), begins)
    n_shed = int((fleet.outcome == SHED).sum())
    n_served = int((fleet.outcome == SERVED).sum())
    late = int(n_served - np.isfinite(taken_s).sum())
    n_timed_out = int((fleet.outcome == TIMED_OUT).sum()) + late
    return FleetRun(
        name=name,
        n_requests=len(taken_s),
        **{f"p{q}_ms": _nearest_rank_ms(taken_s, q / 100) for q in (50, 95, 99)},
        n_timed_out=n_timed_out,
        n_shed=n_shed,
        n_unanswered=len(taken_s) - n_served - n_shed - n_timed_out + late,
        n_minutes=len(counts),
        bad_minutes=int((beyond > 0.01 * counts).sum()),
        replica_hours=fleet.paid_s / 3600,
        cost=fleet.paid_s / 3600 * settings.price_per_hour,
        n_cold_starts=fleet.n_cold_starts,
        n_started=fleet.n_started,
        most_replicas=fleet.most,
        timeline=timeline,
    )


def _nearest_rank_ms(taken_s: np.ndarray, quantile: float) -> float | None:
    rank = math.ceil(len(taken_s) * quantile - 1e-9) - 1
    found = float(np.partition(taken_s, rank)[rank])
    return found * 1000 if math.isfinite(found) else None
