"""Waiting before several equal servers, in closed form.

Erlang (1917); recursion and tail as in Gross and Harris (1998), Fundamentals of Queueing Theory, 2.3; other service
times by Allen and Cunneen, in Allen (1990), Probability, Statistics and Queueing Theory, 5.3. Rates are per second,
times in seconds. One queue, first come first served, nobody leaves.
"""

from __future__ import annotations

import math

from scipy import optimize

from engine.errors import InvalidRequest
from engine.records.planning import QueueCheck

MOST_SERVERS = 100_000
NEAR = 1e-7  # relative distance below which the general form of the tail loses its digits


def erlang_c(n_servers: int, offered: float) -> float:
    """Probability that a request waits; offered: arrival rate × mean service time, in servers. 1 from full use on."""
    if offered >= n_servers:
        return 1.0
    blocked = 1.0  # Erlang B
    for k in range(1, n_servers + 1):
        blocked = offered * blocked / (k + offered * blocked)
    return blocked / (1 - offered / n_servers * (1 - blocked))


def mean_wait_s(n_servers: int, rate_per_s: float, service_s: float) -> float:
    """Mean time in the queue. Raises InvalidRequest when the servers cannot keep up."""
    spare_per_s = _stable(n_servers, rate_per_s, service_s)
    return erlang_c(n_servers, rate_per_s * service_s) / spare_per_s


def wait_quantile_s(n_servers: int, rate_per_s: float, service_s: float, quantile: float) -> float:
    """Time in the queue that this share of requests does not exceed; exponential service."""
    spare_per_s = _stable(n_servers, rate_per_s, service_s)
    waits = erlang_c(n_servers, rate_per_s * service_s)
    return math.log(waits / (1 - quantile)) / spare_per_s if waits > 1 - quantile else 0.0


def total_tail(time_s: float, n_servers: int, rate_per_s: float, service_s: float) -> float:
    """P(waiting + service > time_s); exponential service."""
    spare_per_s = _stable(n_servers, rate_per_s, service_s)
    waits, mu = erlang_c(n_servers, rate_per_s * service_s), 1 / service_s
    served = math.exp(-mu * time_s)
    if math.isclose(spare_per_s, mu, rel_tol=NEAR):  # the limit of the general form
        return served * (1 + waits * mu * time_s)
    both = (spare_per_s * served - mu * math.exp(-spare_per_s * time_s)) / (spare_per_s - mu)
    return (1 - waits) * served + waits * both


def total_quantile_s(n_servers: int, rate_per_s: float, service_s: float, quantile: float) -> float:
    """Waiting and service together that this share of requests does not exceed; exponential service."""
    slowest_per_s = min(_stable(n_servers, rate_per_s, service_s), 1 / service_s)
    longest_s = 1.0 / slowest_per_s
    while total_tail(longest_s, n_servers, rate_per_s, service_s) > 1 - quantile:
        longest_s *= 2
    found = optimize.brentq(
        lambda t: total_tail(t, n_servers, rate_per_s, service_s) - (1 - quantile), 0.0, longest_s, xtol=1e-12
    )
    return float(found)


def fewest_servers(rate_per_s: float, service_s: float, slo_s: float, quantile: float = 0.99) -> int:
    """Fewest servers whose quantile of waiting and service keeps the SLO.

    Raises InvalidRequest when service alone takes longer.
    """
    alone_s = -service_s * math.log(1 - quantile)
    if slo_s <= alone_s:
        raise InvalidRequest(
            f"no number of replicas keeps {_ms(slo_s)}: with a mean service time of {_ms(service_s)} that varies "
            f"exponentially, the p{quantile * 100:g} without any waiting is already {_ms(alone_s)}"
        )
    low = math.floor(rate_per_s * service_s)  # not enough
    high = low + 1
    while high <= MOST_SERVERS and total_tail(slo_s, high, rate_per_s, service_s) > 1 - quantile:
        low, high = high, 2 * high
    if high > MOST_SERVERS:
        raise InvalidRequest(
            f"{rate_per_s:,g} requests/s need more than {MOST_SERVERS // 2:,} replicas at {_ms(slo_s)}"
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if total_tail(slo_s, middle, rate_per_s, service_s) > 1 - quantile else (low, middle)
    return high


def queue_check(n_servers: int, rate_per_s: float, service_s: float, variation: float = 1.0) -> QueueCheck:
    """What the peak does to the queue. Raises InvalidRequest when the servers cannot keep up.

    variation: (ca² + cs²) / 2, squared coefficients of variation of the gaps between arrivals and of the service time.
    """
    mean_wait_ms = 1000 * mean_wait_s(n_servers, rate_per_s, service_s)
    offered = rate_per_s * service_s
    return QueueCheck(
        busy_fraction=offered / n_servers,
        mean_wait_ms=mean_wait_ms,
        waits_fraction=erlang_c(n_servers, offered),
        p99_wait_ms=1000 * wait_quantile_s(n_servers, rate_per_s, service_s, 0.99),
        p99_ms=1000 * total_quantile_s(n_servers, rate_per_s, service_s, 0.99),
        adjusted_mean_wait_ms=mean_wait_ms * variation,
    )


def _stable(n_servers: int, rate_per_s: float, service_s: float) -> float:
    """Capacity that is left over, requests per second; above 0."""
    if n_servers < 1 or not service_s > 0 or not rate_per_s > 0:
        raise InvalidRequest(
            f"a queue needs a server, a service time and traffic above 0; got {n_servers} servers, {_ms(service_s)} "
            f"and {rate_per_s:g} requests/s"
        )
    if n_servers > MOST_SERVERS:
        raise InvalidRequest(f"a queue is worked out for at most {MOST_SERVERS:,} replicas, got {n_servers:,}")
    capacity_per_s = n_servers / service_s
    if rate_per_s >= capacity_per_s:
        raise InvalidRequest(
            f"unstable: {rate_per_s:,.0f}/s exceeds {capacity_per_s:,.0f}/s, what {n_servers} "
            f"replica{'s' if n_servers > 1 else ''} can do; the queue would grow for ever"
        )
    return capacity_per_s - rate_per_s


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.3g} ms"
