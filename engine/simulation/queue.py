"""One queue before equal servers, first come first served: what every request waits.

Kiefer and Wolfowitz (1955), On the theory of queues with many servers: a request starts when it has come and the
earliest server is free. With one server this is Lindley's recursion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.errors import InvalidRequest
from engine.simulation.compiled import compiled


@dataclass(frozen=True)
class QueueRun:
    """Times of every request, in the order they came; all (n,) float64, seconds."""

    arrivals_s: np.ndarray
    starts_s: np.ndarray
    finishes_s: np.ndarray
    n_servers: int

    @property
    def waits_s(self) -> np.ndarray:
        """(n,) float64: time in the queue."""
        return np.asarray(self.starts_s - self.arrivals_s)

    @property
    def latencies_s(self) -> np.ndarray:
        """(n,) float64: waiting and service."""
        return np.asarray(self.finishes_s - self.arrivals_s)

    @property
    def busy_fraction(self) -> float:
        """Share of the servers' time spent serving, from the first arrival to the last finish."""
        span_s = float(self.finishes_s.max() - self.arrivals_s[0])
        return float((self.finishes_s - self.starts_s).sum()) / (self.n_servers * span_s)


def serve(arrivals_s: np.ndarray, services_s: np.ndarray, n_servers: int) -> QueueRun:
    """Send requests through the queue, exactly, whatever the load: an unstable one shows as latencies that grow.

    arrivals_s: (n,) float, ascending; services_s: (n,) float, above 0. Raises InvalidRequest for anything else.
    """
    arrivals, services = as_traffic(arrivals_s, services_s)
    if n_servers < 1:
        raise InvalidRequest(f"a queue needs at least one server, got {n_servers}")
    starts = np.empty_like(arrivals)
    compiled(_serve)(arrivals, services, np.zeros(n_servers), starts)
    return QueueRun(arrivals, starts, starts + services, n_servers)


def as_traffic(arrivals_s: np.ndarray, services_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both as checked float64 arrays of one length. Raises InvalidRequest for what is no traffic."""
    arrivals, services = (np.ascontiguousarray(values, dtype=np.float64) for values in (arrivals_s, services_s))
    if not len(arrivals):
        raise InvalidRequest("no traffic: there is not one request")
    if arrivals.shape != services.shape or arrivals.ndim != 1:
        raise InvalidRequest(f"{arrivals.shape} arrivals and {services.shape} service times do not belong together")
    if not (np.isfinite(arrivals).all() and np.isfinite(services).all() and services.min() > 0):
        raise InvalidRequest("arrivals must be finite and service times finite and above 0")
    if arrivals[0] < 0 or (np.diff(arrivals) < 0).any():
        raise InvalidRequest("arrivals must ascend from 0 s on")
    return arrivals, services


def _serve(arrivals: np.ndarray, services: np.ndarray, free: np.ndarray, starts: np.ndarray) -> None:
    """free: (n_servers,) float64 heap of the times at which servers are free; starts is filled."""
    n_servers = len(free)
    for i in range(len(arrivals)):
        start = max(arrivals[i], free[0])
        starts[i] = start
        until = start + services[i]
        at = 0  # the earliest server takes the request: replace the root, sift down
        while True:
            child = 2 * at + 1
            if child >= n_servers:
                break
            if child + 1 < n_servers and free[child + 1] < free[child]:
                child += 1
            if free[child] >= until:
                break
            free[at] = free[child]
            at = child
        free[at] = until
