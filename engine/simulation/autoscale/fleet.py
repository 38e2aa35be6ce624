"""The replicas of a fleet and the requests in them: advance it, look at it, order and release replicas."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine.records.autoscaling import FleetSettings
from engine.simulation.autoscale import advance as loop
from engine.simulation.autoscale.advance import ABSENT, DRAINING, HEAD, NEXT, NOW, PAID, READY, RUNNING, STARTING, TAIL
from engine.simulation.compiled import compiled

FIRST_ROOM = 64  # replicas; doubled when more are needed


@dataclass(frozen=True)
class View:
    """What a scaler sees. Draining replicas are not counted."""

    now_s: float
    n_ready: int
    n_starting: int
    n_waiting: int
    n_running: int
    n_arrived: int
    busy_s: float
    in_flight_s: float

    @property
    def n_current(self) -> int:
        """Replicas that are ready or on their way."""
        return self.n_ready + self.n_starting

    @property
    def in_flight(self) -> int:
        """Requests that wait or are being served."""
        return self.n_waiting + self.n_running


class Fleet:
    """Holds the state of one run as arrays that the compiled loop changes in place."""

    def __init__(self, arrivals_s: np.ndarray, services_s: np.ndarray, settings: FleetSettings, seed: int) -> None:
        n = len(arrivals_s)
        self.settings, self.rng = settings, np.random.default_rng(seed)
        self.arrivals, self.services = arrivals_s, services_s
        self.outcome, self.finishes = np.zeros(n, np.int8), np.full(n, np.inf)
        self.queue = np.empty(n, np.int64)
        self.phase, self.busy, self.cold = np.zeros(0, np.int8), np.zeros(0, np.int64), np.zeros(0, np.bool_)
        self.ready_at, self.ordered_at = np.zeros(0), np.zeros(0)
        self.heap_at, self.heap_what = np.zeros(0), np.zeros((0, 2), np.int64)
        self.counts, self.sums = np.zeros(4, np.int64), np.zeros(4)
        self.n_started = self.n_cold_starts = self.most = 0
        self.order(settings.first, at_once=True)

    def advance(self, until_s: float, *, wakes: bool = False) -> bool:
        """Let time pass; True when it stopped early at a request that found no replica."""
        known = self.settings
        return bool(
            compiled(loop.advance)(
                float(until_s),
                wakes,
                known.concurrency,
                math.inf if known.timeout_s is None else known.timeout_s,
                len(self.arrivals) if known.max_waiting is None else known.max_waiting,
                known.first_call_s,
                self.arrivals,
                self.services,
                self.outcome,
                self.finishes,
                self.queue,
                self.phase,
                self.busy,
                self.cold,
                self.ready_at,
                self.ordered_at,
                self.heap_at,
                self.heap_what,
                self.counts,
                self.sums,
            )
        )

    @property
    def done(self) -> bool:
        """Every request has come and left."""
        counts = self.counts
        return bool(counts[NEXT] == len(self.arrivals) and counts[HEAD] == counts[TAIL] and not counts[RUNNING])

    @property
    def now_s(self) -> float:
        """Time since the beginning of the trace."""
        return float(self.sums[NOW])

    @property
    def view(self) -> View:
        """The fleet as it is now."""
        return View(
            now_s=float(self.sums[NOW]),
            n_ready=int(np.count_nonzero(self.phase == READY)),
            n_starting=int(np.count_nonzero(self.phase == STARTING)),
            n_waiting=int(self.counts[TAIL] - self.counts[HEAD]),
            n_running=int(self.counts[RUNNING]),
            n_arrived=int(self.counts[NEXT]),
            busy_s=float(self.sums[loop.BUSY]),
            in_flight_s=float(self.sums[loop.IN_FLIGHT]),
        )

    @property
    def paid_s(self) -> float:
        """Replica-seconds so far, from the order of each until it has drained."""
        alive = self.phase != ABSENT
        return float(self.sums[PAID] + (self.sums[NOW] - self.ordered_at[alive]).sum())

    def scale_to(self, n_replicas: int) -> None:
        """Order or release replicas until so many are ready or starting."""
        current = self.view.n_current
        if n_replicas > current:
            self.n_cold_starts += current == 0
            self.n_started += n_replicas - current
            self.order(n_replicas - current)
        elif n_replicas < current:
            self._release(current - n_replicas)

    def order(self, n_replicas: int, *, at_once: bool = False) -> None:
        """New replicas, ready after a start-up time drawn from the sample and the load of the model; or at once."""
        while int((self.phase == ABSENT).sum()) < n_replicas:
            self._grow()
        places, now = np.flatnonzero(self.phase == ABSENT)[:n_replicas], float(self.sums[NOW])
        self.phase[places] = READY if at_once else STARTING
        self.cold[places] = not at_once
        self.ordered_at[places] = now
        known = self.settings
        self.ready_at[places] = now + self.rng.choice(known.startup_s, n_replicas) + known.load_s
        self.most = max(self.most, self.view.n_current)

    def _release(self, n_replicas: int) -> None:
        """Those still starting first, the latest of them first; then those that serve least, which drain."""
        starting = np.flatnonzero(self.phase == STARTING)
        starting = starting[np.argsort(-self.ready_at[starting], kind="stable")]
        ready = np.flatnonzero(self.phase == READY)
        ready = ready[np.argsort(self.busy[ready], kind="stable")]
        leaving = np.concatenate([starting, ready])[:n_replicas]
        idle = leaving[self.busy[leaving] == 0]
        self.sums[PAID] += (self.sums[NOW] - self.ordered_at[idle]).sum()
        self.phase[leaving] = DRAINING
        self.phase[idle] = ABSENT

    def _grow(self) -> None:
        room = max(FIRST_ROOM, 2 * len(self.phase))
        more = room - len(self.phase)
        self.phase, self.busy = np.pad(self.phase, (0, more)), np.pad(self.busy, (0, more))
        self.cold, self.ready_at = np.pad(self.cold, (0, more)), np.pad(self.ready_at, (0, more))
        self.ordered_at = np.pad(self.ordered_at, (0, more))
        slots = room * self.settings.concurrency
        self.heap_at = np.pad(self.heap_at, (0, slots - len(self.heap_at)))
        self.heap_what = np.pad(self.heap_what, ((0, slots - len(self.heap_what)), (0, 0)))
