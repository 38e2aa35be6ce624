"""What a metrics server would report: means over a window of what was seen at each look."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from engine.simulation.autoscale.fleet import View


@dataclass(frozen=True)
class Means:
    """Over the window: requests/s, replicas' worth of work being done, requests in flight."""

    requests_per_s: float
    busy: float
    in_flight: float


class Meter:
    """Keeps the looks of a window."""

    def __init__(self, window_s: float) -> None:
        self.window_s = window_s
        self.looks: deque[View] = deque()

    def see(self, view: View) -> Means:
        """Add a look; the means since the latest look that lies a window or more back, or since the first."""
        if not self.looks:
            self.looks.append(View(0.0, view.n_ready, 0, 0, 0, 0, 0.0, 0.0))
        self.looks.append(view)
        while len(self.looks) > 2 and self.looks[1].now_s <= view.now_s - self.window_s + 1e-9:
            self.looks.popleft()
        old = self.looks[0]
        span_s = view.now_s - old.now_s
        if span_s <= 0:
            return Means(0.0, 0.0, 0.0)
        return Means(
            (view.n_arrived - old.n_arrived) / span_s,
            (view.busy_s - old.busy_s) / span_s,
            (view.in_flight_s - old.in_flight_s) / span_s,
        )
