"""Requests per second of the event loops, on one core: compiled, and as plain Python."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from types import ModuleType
from unittest.mock import patch

import numpy as np

from engine.records.autoscaling import FleetSettings, Hpa
from engine.simulation import batching, queue
from engine.simulation.arrivals import poisson
from engine.simulation.autoscale import fleet
from engine.simulation.autoscale.run import simulate

N_REQUESTS = 1_000_000
N_PLAIN = 100_000
REPEATS = 5
CALL_MS = 5 + 0.2 * np.arange(33)
Loop = Callable[[np.ndarray], object]


def table() -> list[str]:
    """Markdown lines."""
    pinned = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(pinned)})
    try:
        rows = [_row(name, *loop) for name, loop in LOOPS.items()]
    finally:
        os.sched_setaffinity(0, pinned)
    return [
        "## Simulation: requests per second of the event loops",
        f"One core, processor time, median of {REPEATS} runs of {N_REQUESTS:,} requests ({N_PLAIN:,} in plain Python,",
        "which runs where numba is not installed). Compiling, once per machine, is not in it.",
        "",
        "| loop | compiled, million requests/s | plain Python, million requests/s |",
        "|---|---|---|",
        *rows,
    ]


def _row(name: str, room: ModuleType, loop: Loop) -> str:
    arrivals_s = poisson(1000, N_REQUESTS, seed=42)
    loop(arrivals_s[:1000])  # compile
    fast = N_REQUESTS / statistics.median(_seconds(loop, arrivals_s) for _ in range(REPEATS))
    with patch.object(room, "compiled", lambda plain: plain):
        slow = N_PLAIN / statistics.median(_seconds(loop, arrivals_s[:N_PLAIN]) for _ in range(REPEATS))
    return f"| {name} | {fast / 1e6:.1f} | {slow / 1e6:.2f} |"


def _seconds(loop: Loop, arrivals_s: np.ndarray) -> float:
    started = time.process_time()
    loop(arrivals_s)
    return time.process_time() - started


LOOPS: dict[str, tuple[ModuleType, Loop]] = {
    "dynamic batching, cap 32, wait 2 ms": (
        batching,
        lambda arrivals_s: batching.simulate(1000 * arrivals_s, CALL_MS, 2.0),
    ),
    "one queue before 8 replicas": (
        queue,
        lambda arrivals_s: queue.serve(arrivals_s, np.full(len(arrivals_s), 0.006), 8),
    ),
    "a fleet under an HPA": (
        fleet,
        lambda arrivals_s: simulate(
            arrivals_s,
            np.full(len(arrivals_s), 0.006),
            FleetSettings(min_replicas=4, max_replicas=20, startup_s=(20.0,)),
            Hpa(signal="cpu", target=0.6),
        ),
    ),
}
