"""The autoscaler of Ray Serve: ongoing requests per replica, acted on once a decision has held.

Source: ray 2.60, `serve/autoscaling_policy.py` and `serve/config.py`.
"""

from __future__ import annotations

import math

from engine.records.autoscaling import RayServe
from engine.simulation.autoscale.fleet import View
from engine.simulation.autoscale.hpa import SLACK
from engine.simulation.autoscale.meter import Meter


def wanted(n_current: int, ongoing: float, rules: RayServe) -> int:
    """Current + factor · (ongoing / target - current), rounded up; a small factor never keeps it from shrinking."""
    error = ongoing / rules.target - n_current
    count = math.ceil(n_current + (rules.up_factor if error > 0 else rules.down_factor) * error - SLACK)
    if count == n_current and math.ceil(ongoing / rules.target - SLACK) < n_current:
        return n_current - 1
    return count


class RayServeScaler:
    """Counts for how many loops in a row it would have gone up or down."""

    wakes = True

    def __init__(self, rules: RayServe) -> None:
        self.rules, self.due_s, self.meter = rules, rules.loop_s, Meter(rules.look_back_s)
        self.held = 0  # loops; below 0 downwards

    def decide(self, view: View) -> int:
        """Replicas from now on, before minimum and maximum."""
        self.due_s = view.now_s + self.rules.loop_s
        ongoing, current = self.meter.see(view).in_flight, view.n_current
        if not current:  # the first one skips the delay
            self.held = 0
            return math.ceil(self.rules.up_factor) if view.in_flight else 0
        count = wanted(current, ongoing, self.rules)
        if count > current:
            self.held = max(self.held, 0) + 1
            return self._after(self.held > round(self.rules.up_delay_s / self.rules.loop_s), count, current)
        if count < current:
            self.held = min(self.held, 0) - 1
            lowest = 0 if current == 1 and not view.in_flight else 1
            return self._after(
                -self.held > round(self.rules.down_delay_s / self.rules.loop_s), max(count, lowest), current
            )
        self.held = 0
        return current

    def _after(self, enough: bool, count: int, current: int) -> int:
        if not enough:
            return current
        self.held = 0
        return count
