"""The Knative Pod Autoscaler: requests in flight over a long window, and over a short one in a panic.

Source: Knative Serving, `pkg/autoscaler/scaling/autoscaler.go` and the config-autoscaler ConfigMap. Left out: the
activator's buffer and its burst capacity; a replica's requests wait in one queue here.
"""

from __future__ import annotations

import math

from engine.records.autoscaling import Knative
from engine.simulation.autoscale.fleet import View
from engine.simulation.autoscale.hpa import SLACK
from engine.simulation.autoscale.meter import Meter


def wanted(in_flight: float, n_ready: int, rules: Knative) -> int:
    """ceil(in flight / target), within the most growth and shrinking of one tick."""
    ready = max(n_ready, 1)
    most, least = math.ceil(rules.up_rate * ready), math.floor(ready / rules.down_rate)
    return min(max(math.ceil(in_flight / rules.target - SLACK), least), most)


def panics(in_flight: float, n_ready: int, rules: Knative) -> bool:
    """Whether the short window asks for so many times what is ready."""
    return math.ceil(in_flight / rules.target - SLACK) / max(n_ready, 1) >= rules.panic_threshold


class KnativeScaler:
    """Remembers when it panicked and how high it went."""

    wakes = True

    def __init__(self, rules: Knative) -> None:
        self.rules, self.due_s = rules, rules.tick_s
        self.stable = Meter(rules.stable_window_s)
        self.short = Meter(rules.stable_window_s * rules.panic_fraction)
        self.panicked_s: float | None = None
        self.highest = 0
        self.quiet_s: float | None = None

    def decide(self, view: View) -> int:
        """Replicas from now on, before minimum and maximum."""
        self.due_s = view.now_s + self.rules.tick_s
        stable, short = self.stable.see(view).in_flight, self.short.see(view).in_flight
        count = wanted(stable, view.n_ready, self.rules)
        self._panic(view, short)
        if self.panicked_s is not None:
            self.highest = max(self.highest, count, wanted(short, view.n_ready, self.rules))
            count = self.highest
        return self._rested(view, count)

    def _panic(self, view: View, short: float) -> None:
        if panics(short, view.n_ready, self.rules):
            self.highest = 0 if self.panicked_s is None else self.highest
            self.panicked_s = view.now_s
        elif self.panicked_s is not None and view.now_s - self.panicked_s > self.rules.stable_window_s:
            self.panicked_s = None

    def _rested(self, view: View, count: int) -> int:
        """At least one while there is work, and until the grace time is over."""
        if count or view.in_flight:
            self.quiet_s = None
            return max(count, 1)
        if not view.n_current:
            return 0
        self.quiet_s = view.now_s if self.quiet_s is None else self.quiet_s
        return 0 if view.now_s - self.quiet_s >= self.rules.grace_s else 1
