"""What the slowest users see, and what a second copy, a timeout or warm replicas would do about it."""

from __future__ import annotations

import math

import numpy as np

from engine.errors import InvalidRequest
from engine.records.tails import CorrelationRow, TailPlan, TailRow, TailSettings
from engine.simulation.hedging import copies, extra_work, hedged, paused

CORRELATIONS = (0.0, 0.25, 0.5, 0.75, 1.0)
MOST_BUSY = 0.7  # beyond it copies make every request wait
FLOORS = {0.5: 1, 0.95: 100, 0.99: 500, 0.999: 5000}  # fewest samples a percentile is shown from


def delay_for(samples_ms: np.ndarray, budget: float) -> float:
    """The delay after which at most this share is still open: the (1 - budget) quantile, nearest rank."""
    return _rank(samples_ms, 1 - budget)


def any_slow(fraction_fast: float, n_calls: int) -> float:
    """Chance that at least one of n independent calls is slow: 1 - p^n."""
    return -math.expm1(n_calls * math.log(fraction_fast))


def leaf_quantile(quantile: float, n_calls: int) -> float:
    """Quantile of one call that the quantile of n calls together rests on: q^(1/n)."""
    return float(quantile ** (1 / n_calls))


def with_cold_starts(samples_ms: np.ndarray, cold_fraction: float, cold_ms: float, quantile: float) -> float:
    """Quantile where a share of requests waits for a cold start on top of its own time."""
    ordered = np.sort(samples_ms)
    values = np.concatenate([ordered, ordered + cold_ms])
    weights = np.repeat([(1 - cold_fraction) / len(ordered), cold_fraction / len(ordered)], len(ordered))
    order = np.argsort(values, kind="stable")
    at = int(np.searchsorted(np.cumsum(weights[order]), quantile - 1e-12))
    return float(values[order[min(at, len(values) - 1)]])


def plan_tail(samples_ms: np.ndarray, settings: TailSettings, seed: int = 0) -> TailPlan:
    """Latencies as they are, hedged, with fallback, cold starts and pauses, side by side.

    samples_ms: (n,) float, latencies of single requests. Raises InvalidRequest for fewer than 100 of them, for times
    that are not above 0, and for a fleet that is already overloaded.
    """
    first = _checked(samples_ms)
    if settings.utilisation is not None and settings.utilisation >= 1:
        raise InvalidRequest(
            f"unstable: a fleet that is {settings.utilisation:.0%} busy has no p99; plan more replicas first"
        )
    delay_ms = delay_for(first, settings.budget) if settings.delay_ms is None else settings.delay_ms
    slow = first > delay_ms
    copy = copies(first, slow, 0.0, seed)
    helped, share = hedged(first, copy, delay_ms), float(slow.mean())
    after = None if settings.utilisation is None else settings.utilisation * (1 + share)
    hedge, why = _verdict(settings, share, after, _rank(first, 0.999), _rank(helped, 0.999))
    leaf = leaf_quantile(0.99, settings.fan_out)
    return TailPlan(
        settings=settings,
        n_samples=len(first),
        delay_ms=delay_ms,
        extra_fraction=share,
        extra_work=extra_work(first, copy, delay_ms),
        utilisation_after=after,
        hedge=hedge,
        why=why,
        rows=tuple(_rows(first, helped, settings, seed)),
        correlations=tuple(_correlated(first, slow, delay_ms, one, seed) for one in CORRELATIONS) if slow.any() else (),
        any_slow_fraction=any_slow(0.99, settings.fan_out),
        leaf_quantile=leaf,
        fan_out_ms=(_shown(first, leaf), _shown(helped, leaf)),
        fallback_fraction=None if settings.timeout_ms is None else float((first > settings.timeout_ms).mean()),
    )


def _checked(samples_ms: np.ndarray) -> np.ndarray:
    samples = np.asarray(samples_ms, dtype=np.float64)
    if samples.ndim != 1 or len(samples) < 100:
        raise InvalidRequest(f"a tail needs at least 100 latencies of single requests, got {samples.size}")
    if not (np.isfinite(samples).all() and samples.min() > 0):
        raise InvalidRequest("latencies must be finite and above 0 ms")
    return samples


def _verdict(
    settings: TailSettings, share: float, after: float | None, before_ms: float, hedged_ms: float
) -> tuple[bool, str]:
    if share == 0:
        return False, "no request is slower than the delay"
    if share > settings.budget + 1e-12:
        return False, f"{share:.1%} of requests are beyond the delay, more than the budget of {settings.budget:.1%}"
    if after is not None and after > MOST_BUSY:
        return False, f"the fleet would be {after:.0%} busy, beyond {MOST_BUSY:.0%}: copies would make everybody wait"
    if hedged_ms > 0.9 * before_ms:
        return False, "the slowest 0.1 % would not become 10 % faster"
    return True, "idempotent calls only: one copy, to another replica, the loser cancelled; off while errors rise"


def _rows(first: np.ndarray, helped: np.ndarray, settings: TailSettings, seed: int) -> list[TailRow]:
    rows = [_row("as measured", first), _row("hedged", helped)]
    if settings.timeout_ms is not None:
        rows.append(
            _row(
                "with fallback",
                np.where(first > settings.timeout_ms, settings.timeout_ms + settings.fallback_ms, first),
            )
        )
    if settings.pause_ms:
        rows.append(_row("with pauses", paused(first, settings.pause_ms, 1000 * settings.pause_every_s, seed)))
    if settings.cold_fraction:
        mixed = {
            q: with_cold_starts(first, settings.cold_fraction, settings.cold_ms, q) if len(first) >= floor else None
            for q, floor in FLOORS.items()
        }
        rows.append(
            TailRow(
                name="with cold starts", p50_ms=mixed[0.5], p95_ms=mixed[0.95], p99_ms=mixed[0.99], p999_ms=mixed[0.999]
            )
        )
    return rows


def _row(name: str, latencies: np.ndarray) -> TailRow:
    p50, p95, p99, p999 = (_shown(latencies, quantile) for quantile in FLOORS)
    return TailRow(name=name, p50_ms=p50, p95_ms=p95, p99_ms=p99, p999_ms=p999)


def _correlated(first: np.ndarray, slow: np.ndarray, delay_ms: float, correlation: float, seed: int) -> CorrelationRow:
    done = hedged(first, copies(first, slow, correlation, seed), delay_ms)
    return CorrelationRow(correlation=correlation, p99_ms=_shown(done, 0.99), p999_ms=_shown(done, 0.999))


def _shown(latencies: np.ndarray, quantile: float) -> float | None:
    """None where there are too few samples beyond it: five, as for the percentiles of every measurement."""
    return _rank(latencies, quantile) if len(latencies) * (1 - quantile) >= 5 - 1e-6 else None


def _rank(latencies: np.ndarray, quantile: float) -> float:
    rank = max(math.ceil(len(latencies) * quantile - 1e-9), 1) - 1
    return float(np.partition(latencies, rank)[rank])
