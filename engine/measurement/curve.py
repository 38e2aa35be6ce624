"""How the time of a call grows with its batch: the points of a sweep, and the line through them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy import optimize

from engine.errors import InvalidRequest
from engine.measurement.batch import choose
from engine.records import Record

MOST_RESIDUAL = 0.15  # a line that misses a measured time by more is not used: padding and cache steps are real


class Fit(Record):
    """Call time = fixed_ms + per_item_ms · n, by least squares of the relative error, neither part below 0."""

    fixed_ms: float
    per_item_ms: float
    r_squared: float | None
    max_residual: float

    @property
    def holds(self) -> bool:
        """Whether the line may stand for the points."""
        return self.max_residual <= MOST_RESIDUAL

    def call_ms(self, n_items: int) -> float:
        """Time of one call on the line."""
        return self.fixed_ms + self.per_item_ms * n_items


class OneCall(Record):
    """n candidates in one call against n calls of one candidate."""

    n_items: int
    ratio: float
    how: str


class Curve(Record):
    """Median call times by batch size, ascending, and the line through them (None with one size)."""

    points: tuple[tuple[int, float], ...]
    fit: Fit | None

    @property
    def largest(self) -> int:
        """The largest batch that was measured."""
        return self.points[-1][0]

    def call_ms(self, n_items: int) -> float:
        """Time of one call: as measured, else on the line where it holds, else between the measured neighbours.

        Raises InvalidRequest outside the measured sizes when there is no line to follow.
        """
        measured = dict(self.points)
        if n_items in measured:
            return measured[n_items]
        if self.fit is not None and self.fit.holds:
            return self.fit.call_ms(n_items)
        sizes, times = zip(*self.points, strict=True)
        if not sizes[0] <= n_items <= sizes[-1]:
            raise InvalidRequest(
                f"batches from {sizes[0]} to {sizes[-1]} were measured and no line fits them; a batch of {n_items} is "
                "outside: measure it"
            )
        return float(np.interp(n_items, sizes, times))

    def items_per_s(self, n_items: int) -> float:
        """Items per second of calls with that many items."""
        return 1000 * n_items / self.call_ms(n_items)

    @property
    def marginal_ms(self) -> float | None:
        """What one more item costs: the slope of the line, else between the two largest sizes; None with one size."""
        if self.fit is None:
            return None
        if self.fit.holds:
            return self.fit.per_item_ms
        (low, low_ms), (high, high_ms) = self.points[-2:]
        return (high_ms - low_ms) / (high - low)

    @property
    def flattens_at(self) -> int | None:
        """Smallest measured batch within 5 % of the best items/s; None while the largest still gains more."""
        found = choose({size: size / ms for size, ms in self.points})
        return found if found < self.largest else None

    def one_call(self, n_items: int) -> OneCall | None:
        """How many times sooner n items are done in one call than one by one; None where that cannot be known."""
        if self.largest == 1:
            return None
        try:
            alone_ms = self.call_ms(1)
        except InvalidRequest:
            return None
        if n_items in dict(self.points):
            together_ms, how = self.call_ms(n_items), "measured"
        elif self.fit is not None and self.fit.holds:
            together_ms, how = self.call_ms(n_items), "from the line"
        elif n_items < self.largest:
            together_ms, how = self.call_ms(n_items), "between measured sizes"
        else:
            together_ms = self.call_ms(self.largest) * math.ceil(n_items / self.largest)
            how = f"in calls of {self.largest}, the largest measured"
        return OneCall(n_items=n_items, ratio=n_items * alone_ms / together_ms, how=how)


def curve(p50_ms: Mapping[int, float]) -> Curve:
    """The curve through batch size -> median ms of one call; at least one size."""
    points = tuple(sorted(p50_ms.items()))
    assert points, "a curve needs a point"
    return Curve(points=points, fit=_fit(points) if len(points) > 1 else None)


def _fit(points: tuple[tuple[int, float], ...]) -> Fit:
    """Weighted least squares with weights 1/t², which is plain least squares of (a + b·n) / t against 1."""
    sizes, times = (np.array(values, float) for values in zip(*points, strict=True))
    (fixed, per_item), _ = optimize.nnls(np.column_stack([1 / times, sizes / times]), np.ones(len(times)))
    errors = (fixed + per_item * sizes) / times - 1
    middle = np.average(times, weights=times**-2)
    scatter = float(np.sum((1 - middle / times) ** 2))
    enough = len(times) > 2 and scatter > 0
    return Fit(
        fixed_ms=float(fixed),
        per_item_ms=float(per_item),
        r_squared=1 - float(np.sum(errors**2)) / scatter if enough else None,
        max_residual=float(np.abs(errors).max()),
    )
