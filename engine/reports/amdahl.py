"""What a faster model brings to the request that calls it.

Amdahl (1967), Validity of the single processor approach: when the model is the share p of a request, making it s times
faster makes the request 1 / (1 - p + p / s) times faster, and never more than 1 / (1 - p).
"""

from __future__ import annotations

import math

from engine.records import Record
from engine.reports.numbers import percent, significant


class Share(Record):
    """The model within one request; both times are medians, or both of another quantile."""

    model_ms: float
    request_ms: float

    @property
    def fraction(self) -> float:
        """Part of the request that is spent in the model: above 0, at most 1."""
        return self.model_ms / self.request_ms

    @property
    def ceiling(self) -> float:
        """How many times faster the request is when the model takes no time at all; infinite without a rest."""
        rest_ms = self.request_ms - self.model_ms
        return self.request_ms / rest_ms if rest_ms > 0 else math.inf

    def whole(self, speedup: float) -> float:
        """How many times faster the request is when the model is `speedup` times faster; below 1: slower."""
        return self.request_ms / (self.request_ms - self.model_ms + self.model_ms / speedup)

    @property
    def sentence(self) -> str:
        """The share and the ceiling in words: "The model is 8% of the request, so … at most 1.09×"."""
        lead = f"The model is {percent(self.fraction, 0 if self.fraction >= 0.0095 else 1)} of the request"
        if math.isinf(self.ceiling):
            return f"{lead}, so what the model gains, the request gains"
        return f"{lead}, so optimising it can give at most {gain(self.ceiling)}"


def share(model_ms: float | None, request_ms: float | None) -> Share | None:
    """None while one of the two is not known, or where the model takes longer than the request it is part of."""
    if model_ms is None or request_ms is None or not 0 < model_ms <= request_ms:
        return None
    return Share(model_ms=model_ms, request_ms=request_ms)


def whole_request_speedup(model_ms: float | None, request_ms: float | None, speedup: float | None) -> float | None:
    """How many times faster the whole request is; None where `share` is, or without a speed-up."""
    known = share(model_ms, request_ms)
    return None if known is None or speedup is None else known.whole(speedup)


def gain(ratio: float) -> str:
    """A speed-up of the whole with three figures, so that small ones do not vanish: 1.09×, 12.5×."""
    return f"{significant(ratio)}×"


def of_request(known: Share | None, speedup: float | None) -> str | None:
    """'1.06× for the whole request', to stand beside a speed-up of the model; None where nothing can be said."""
    return None if known is None or speedup is None else f"{gain(known.whole(speedup))} for the whole request"
