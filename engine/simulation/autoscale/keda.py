"""KEDA: it wakes a fleet from zero and puts it to rest after a quiet time; in between an HPA decides.

Source: KEDA 2.21 documentation, "Scaling Deployments, StatefulSets & Custom Resources". The HPA sees the total of the
signal with an average target per replica.
"""

from __future__ import annotations

import math

from engine.records.autoscaling import Keda
from engine.simulation.autoscale.fleet import View
from engine.simulation.autoscale.hpa import HpaScaler, desired_of_total
from engine.simulation.autoscale.meter import Meter


class _Total(HpaScaler):
    """The HPA that KEDA makes."""

    def raw(self, view: View) -> int:
        rules = self.rules
        total = self.meter.see(view).requests_per_s if rules.signal == "requests" else float(view.in_flight)
        return desired_of_total(view.n_current, total, rules.target, rules.tolerance)


class KedaScaler:
    """Polls for activity, and asks the HPA when it is its turn."""

    def __init__(self, rules: Keda, n_first: int, n_least: int) -> None:
        self.rules, self.n_least = rules, n_least
        self.hpa, self.meter = _Total(rules.hpa, n_first), Meter(rules.hpa.metric_window_s)
        self.wakes = rules.polling_s == 0
        self.poll_s = math.inf if self.wakes else rules.polling_s
        self.active_s, self.n_seen = 0.0, 0

    @property
    def due_s(self) -> float:
        """When it looks next."""
        return min(self.poll_s, self.hpa.due_s)

    def decide(self, view: View) -> int:
        """Replicas from now on, before the maximum."""
        polls, syncs = view.now_s >= self.poll_s or self.wakes, view.now_s >= self.hpa.due_s
        count = view.n_current
        if polls:
            count = self._polled(view, count)
            self.poll_s = math.inf if self.wakes else view.now_s + self.rules.polling_s
        if syncs:
            self.hpa.due_s = view.now_s + self.rules.hpa.sync_s
            if count and view.n_current:
                return max(self.hpa.settle(view, self.hpa.raw(view)), 1)
        return count

    def _polled(self, view: View, count: int) -> int:
        if self._active(view):
            self.active_s = view.now_s
            return max(count, self.n_least, 1)
        resting = self.n_least == 0 and view.now_s - self.active_s >= self.rules.cooldown_s
        return 0 if resting and not view.in_flight else count

    def _active(self, view: View) -> bool:
        """A pushed signal is active while requests come or are in flight; a polled one when its total is high."""
        if self.wakes:
            came, self.n_seen = view.n_arrived > self.n_seen, view.n_arrived
            return came or view.in_flight > self.rules.activation
        means = self.meter.see(view)
        total = means.requests_per_s if self.rules.hpa.signal == "requests" else float(view.in_flight)
        return total > self.rules.activation
