"""Find the batch size from which a model gives nearly all the items per second it can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.errors import Contained
from engine.measurement.protocol import Channel, Launch

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
NEAR_BEST = 0.95
SECONDS_PER_SIZE = 0.25
LONGEST_CALL_S = 1.0


def auto_batch(launch: Launch, threads: int = 1, fixed_batch: int | None = None) -> int:
    """Smallest power of two up to 128 whose items/s is within 5 % of the best, on the baseline in one process.

    A model with a fixed batch has no choice. A quick look to propose a batch size, not a measurement.
    """
    if fixed_batch is not None:
        return fixed_batch
    with launch("baseline", 0, threads) as channel:
        return choose(quick_sweep(channel))


def sweep_sizes(fixed_batch: int | None = None) -> tuple[int, ...]:
    """The batch sizes of a sweep: powers of two from 1 to 128, or the only one that the model takes."""
    return SIZES if fixed_batch is None else (fixed_batch,)


def quick_sweep(channel: Channel, sizes: Sequence[int] = SIZES) -> dict[int, float]:
    """Items per second of each batch size, from the median call of about a quarter of a second each.

    Ends where one call takes longer than a second, or at a size that the model or the memory limit refuses.
    """
    rates: dict[int, float] = {}
    for size in sizes:
        limit_s = 4 * SECONDS_PER_SIZE
        message = {"do": "warm", "batch": size, "calls": 10, "seconds": SECONDS_PER_SIZE, "limit_s": limit_s}
        try:
            call_s = channel.ask(message)["ns"] / 1e9
        except Contained:
            if not rates:
                raise
            break
        rates[size] = size / call_s
        if call_s > LONGEST_CALL_S:
            break
    return rates


def choose(items_per_s: Mapping[int, float]) -> int:
    """Smallest batch size within 5 % of the best items/s."""
    best = max(items_per_s.values())
    return min(size for size, rate in items_per_s.items() if rate >= NEAR_BEST * best)
