"""What serving costs when every replica is fully used."""

from __future__ import annotations


def cost_per_1k(price_per_hour: float | None, items_per_s: float | None) -> float | None:
    """Cost of 1,000 predictions at full use: price of one replica-hour / (3,600 * items/s) * 1,000.

    A replica is one process with the study's threads; items_per_s is that of the primary batch. No price, no cost.
    """
    if price_per_hour is None or items_per_s is None:
        return None
    return price_per_hour / (3600 * items_per_s) * 1000
