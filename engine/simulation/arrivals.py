"""Made-up and recorded traffic: when requests come and how long each of them takes. Seconds, float64."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.errors import BadData, InvalidRequest

MOST_REQUESTS = 5_000_000


def poisson(rate_per_s: float, n_requests: int, seed: int) -> np.ndarray:
    """Independent arrivals. Returns (n_requests,) float64, ascending."""
    if not rate_per_s > 0 or n_requests < 1:
        raise InvalidRequest(f"no traffic: {n_requests:,} requests at {rate_per_s:g}/s")
    _few_enough(n_requests)
    return np.cumsum(np.random.default_rng(seed).exponential(1 / rate_per_s, n_requests))


def steps(rates: Sequence[tuple[float, float]], seed: int) -> np.ndarray:
    """Independent arrivals whose rate changes in steps, exact for a rate that is constant in each of them.

    rates: (requests/s, duration in s), one after the other. Returns (n,) float64, ascending from 0 s on.
    """
    if not rates or any(not (rate >= 0 and 0 < duration_s < math.inf) for rate, duration_s in rates):
        raise InvalidRequest(f"traffic is steps of a rate of at least 0/s and a duration above 0 s, got {list(rates)}")
    _few_enough(sum(rate * duration_s for rate, duration_s in rates))
    rng = np.random.default_rng(seed)
    parts, begin_s = [], 0.0
    for rate, duration_s in rates:
        parts.append(np.sort(rng.uniform(begin_s, begin_s + duration_s, rng.poisson(rate * duration_s))))
        begin_s += duration_s
    arrivals = np.concatenate(parts)
    if not len(arrivals):
        raise InvalidRequest("no traffic: not one request comes in these steps")
    return arrivals


def lognormal_service(mean_s: float, cv: float, n_requests: int, seed: int) -> np.ndarray:
    """Service times with this mean and coefficient of variation. Returns (n_requests,) float64; cv 0: all the mean."""
    if not (0 < mean_s < math.inf) or not (0 <= cv <= 100):
        raise InvalidRequest(
            f"a service time needs a mean above 0 s and a cv from 0 to 100, got {mean_s:g} s and {cv:g}"
        )
    if cv == 0:
        return np.full(n_requests, mean_s)
    spread = math.log(1 + cv * cv)
    return np.random.default_rng(seed).lognormal(math.log(mean_s) - spread / 2, math.sqrt(spread), n_requests)


def read_times(text: str) -> np.ndarray:
    """Numbers of a recording, one a line; a first line of words is a heading. Returns (n,) float64, as they stand.

    Raises BadData with the line that is no finite number at or above 0.
    """
    lines = [(number, line.strip().strip(",;")) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if lines and not _number(lines[0][1]):
        lines = lines[1:]
    if not lines:
        raise BadData("no traffic: the file has no numbers")
    _few_enough(len(lines))
    for number, line in lines:
        if not _number(line):
            raise BadData(f"line {number} is no time in seconds at or above 0: {line[:40]!r}")
    return np.array([float(line) for _, line in lines])


def _number(line: str) -> bool:
    try:
        value = float(line)
    except ValueError:
        return False
    return math.isfinite(value) and value >= 0


def _few_enough(n_requests: float) -> None:
    if not n_requests <= MOST_REQUESTS:
        raise InvalidRequest(f"{n_requests:,.0f} requests are more than the {MOST_REQUESTS:,} simulated at a time")
