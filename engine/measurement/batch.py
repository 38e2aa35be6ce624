"""Find the batch size from which a model gives nearly all the items per second it can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.measurement.protocol import Channel, Launch

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
NEAR_BEST = 0.95
SECONDS_PER_SIZE = 0.25


def auto_batch(launch: Launch, fixed_batch: int | None = None) -> int:
    """Smallest power of two up to 128 whose items/s is within 5 % of the best, on the baseline in one process.

    A model with a fixed batch has no choice. A quick look to propose a batch size, not a measurement.
    """
    if fixed_batch is not None:
        return fixed_batch
    with launch("baseline", 0) as channel:
        return choose(quick_sweep(channel))


def quick_sweep(channel: Channel, sizes: Sequence[int] = SIZES) -> dict[int, float]:
    """Items per second of each batch size, from the median call of about a quarter of a second each."""
    rates = {}
    for size in sizes:
        answer = channel.ask(
            {"do": "warm", "batch": size, "calls": 10, "seconds": SECONDS_PER_SIZE, "limit_s": 4 * SECONDS_PER_SIZE}
        )
        rates[size] = size / (answer["ns"] / 1e9)
    return rates


def choose(items_per_s: Mapping[int, float]) -> int:
    """Smallest batch size within 5 % of the best items/s."""
    best = max(items_per_s.values())
    return min(size for size, rate in items_per_s.items() if rate >= NEAR_BEST * best)
