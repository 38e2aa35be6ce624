"""The Horizontal Pod Autoscaler: how many replicas it wants, and how fast it lets that happen.

Source: Kubernetes documentation, "Horizontal Pod Autoscaling", and `replica_calculator.go`, `horizontal.go` of
Kubernetes 1.33. Left out: missing metrics, the initial readiness delay and the CPU initialisation period (a replica
counts as not ready until it is).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

from engine.records.autoscaling import Hpa, Policy
from engine.simulation.autoscale.fleet import View
from engine.simulation.autoscale.meter import Meter

SLACK = 1e-9  # the metric is measured in floating point: 60.000000001 replicas are 60


def desired(n_current: int, metric: float, target: float, tolerance: float = 0.1) -> int:
    """ceil(current · metric / target); the current number while the ratio is within the tolerance of 1."""
    ratio = metric / target
    return n_current if abs(1 - ratio) <= tolerance else math.ceil(n_current * ratio - SLACK)


def desired_with_starting(n_ready: int, n_starting: int, metric: float, target: float, tolerance: float = 0.1) -> int:
    """The same for a metric that only ready replicas have: upwards those still starting count as 0.

    No change where that turns the direction round.
    """
    n_current = n_ready + n_starting
    if not n_starting or metric <= target:
        ratio = metric / target
        return n_current if abs(1 - ratio) <= tolerance else math.ceil(n_ready * ratio - SLACK)
    spread = metric * n_ready / n_current
    return n_current if spread < target else desired(n_current, spread, target, tolerance)


def desired_of_total(n_current: int, total: float, target: float, tolerance: float = 0.1) -> int:
    """For an external metric with an average target, as KEDA sets it: ceil(total / target)."""
    if abs(1 - total / (target * n_current)) <= tolerance:
        return n_current
    return math.ceil(total / target - SLACK)


def limit_up(n_at_start: Sequence[int], policies: Sequence[Policy]) -> int:
    """Most replicas the policies allow; n_at_start: replicas at the start of each policy's period. The widest wins."""
    return max(
        begin + policy.value if policy.kind == "pods" else math.ceil(begin * (1 + policy.value / 100) - SLACK)
        for begin, policy in zip(n_at_start, policies, strict=True)
    )


def limit_down(n_at_start: Sequence[int], policies: Sequence[Policy]) -> int:
    """Fewest replicas the policies allow. The widest wins."""
    return min(
        begin - policy.value if policy.kind == "pods" else math.floor(begin * (1 - policy.value / 100) + SLACK)
        for begin, policy in zip(n_at_start, policies, strict=True)
    )


class HpaScaler:
    """Remembers its recommendations and what it did."""

    wakes = False

    def __init__(self, rules: Hpa, n_first: int) -> None:
        self.rules, self.meter = rules, Meter(rules.metric_window_s)
        self.due_s = rules.sync_s
        self.recommended: deque[tuple[float, int]] = deque([(0.0, n_first)])
        self.done: deque[tuple[float, int]] = deque()  # (time, change of replicas)

    def decide(self, view: View) -> int:
        """Replicas from now on, before minimum and maximum."""
        self.due_s = view.now_s + self.rules.sync_s
        return self.settle(view, self.raw(view))

    def settle(self, view: View, wanted: int) -> int:
        """Stabilisation, then the policies."""
        settled = self._paced(view, self._stabilised(view, wanted))
        if settled != view.n_current:
            self.done.append((view.now_s, settled - view.n_current))
        return settled

    def raw(self, view: View) -> int:
        """What the metric alone asks for."""
        means, rules, ready = self.meter.see(view), self.rules, max(view.n_ready, 1)
        if rules.signal == "cpu":  # can never say how much more is waiting
            per_replica = min(means.busy / ready, 1.0)
        elif rules.signal == "requests":
            per_replica = means.requests_per_s / ready
        else:
            per_replica = view.in_flight / ready
        return desired_with_starting(view.n_ready, view.n_starting, per_replica, rules.target, rules.tolerance)

    def _stabilised(self, view: View, wanted: int) -> int:
        now_s, rules = view.now_s, self.rules
        self.recommended.append((now_s, wanted))
        while self.recommended[0][0] < now_s - max(rules.up_window_s, rules.down_window_s):
            self.recommended.popleft()
        lowest = min(count for at, count in self.recommended if at >= now_s - rules.up_window_s)
        highest = max(count for at, count in self.recommended if at >= now_s - rules.down_window_s)
        return min(max(view.n_current, lowest), highest)

    def _paced(self, view: View, wanted: int) -> int:
        if wanted > view.n_current:
            return min(wanted, limit_up([self._begin(view, one) for one in self.rules.up], self.rules.up))
        if wanted < view.n_current:
            return max(wanted, limit_down([self._begin(view, one) for one in self.rules.down], self.rules.down), 0)
        return wanted

    def _begin(self, view: View, policy: Policy) -> int:
        """Replicas at the start of the policy's period."""
        longest = max(one.period_s for one in (*self.rules.up, *self.rules.down))
        while self.done and self.done[0][0] <= view.now_s - longest:
            self.done.popleft()
        return view.n_current - sum(change for at, change in self.done if at > view.now_s - policy.period_s)
