"""What a column of the comparison is: a value in one unit, perhaps an interval, perhaps how it moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engine.records import Comparison
from engine.reports import numbers
from pages._ui.compare.variants import Variant

Value = float | str | None
Call = Literal["better", "worse", "within noise", "no change", "same answers", "not compared", "open"]
Moved = tuple[float | None, Call | None]
Bounds = tuple[float | None, float | None]
Kind = Literal["figure", "parameter", "run"]
EMPTY: Moved = (None, None)


@dataclass(frozen=True)
class Column:
    """One column of the table and of its export.

    value: in `unit`, or text. bounds: its interval in `bounds_unit`. moved: by how much it changed against the original
    in `change_unit`, and what that is; "open": nobody knows whether it is noise. explains: its name in
    engine/reports/explain.py.
    """

    key: str
    title: str
    value: Callable[[Variant], Value]
    kind: Kind = "figure"
    unit: str = ""
    symbol: str = ""
    places: int | None = None
    bounds: Callable[[Variant], Bounds] | None = None
    bounds_names: tuple[str, str] = ("low", "high")
    bounds_unit: str = ""
    always_bounds: bool = False
    moved: Callable[[Variant], Moved] | None = None
    change_unit: str = "%"
    change_places: int = 0
    explains: str | None = None

    def written(self, one: Variant) -> str:
        """The value as the screen writes it, without its unit."""
        value = self.value(one)
        if value is None or isinstance(value, str):
            return value or numbers.MISSING
        return f"{value:g}" if self.places is None else f"{value:,.{self.places}f}"

    def measured(self, variants: Sequence[Variant]) -> Column | None:
        """With the decimals that these variants need, the baseline first; None where none of them has a value."""
        values = [self.value(one) for one in variants]
        if all(value is None for value in values):
            return None
        found = [value for value in values if not isinstance(value, str)]
        if self.kind == "parameter" or self.places is not None or len(found) < len(values):
            return self
        return replace(self, places=numbers.decimals(found))


def from_comparison(found: Comparison | None, *, inverse: bool = False) -> Moved:
    """How a time (inverse: a rate) changed, from the ratio of the same process pairs."""
    if found is None:
        return None, "not compared"
    ratio = 1 / found.ratio if inverse else found.ratio
    known = {"faster": "better", "slower": "worse"}
    return (ratio - 1) * 100, known.get(found.verdict, "within noise")  # type: ignore[return-value]


def from_sizes(new: float | None, old: float | None, *, exact: bool = True) -> Moved:
    """How something changed that is counted, not measured. exact=False: measured, but nobody knows how exactly."""
    if new is None or not old:
        return EMPTY
    share = (new / old - 1) * 100
    if not exact:
        return share, "open"
    return share, "no change" if round(abs(share)) == 0 else "better" if share < 0 else "worse"


def from_drop(drop: float | None, bound: float | None, *, larger_is_better: bool, harmed: bool | None = None) -> Moved:
    """How a metric changed, in hundredths, from its drop (positive is worse) and the drop's upper bound.

    It is better where the bound itself is a gain, and worse where the bound mirrored at the drop is still a loss;
    harmed: what a test says of that instead.
    """
    if drop is None:
        return EMPTY
    change = 100 * (-drop if larger_is_better else drop)
    if harmed is not None:
        worse = harmed and drop > 0
    elif bound is None:
        return change, "open"
    else:
        worse = 2 * drop - bound > 0
    if worse:
        return change, "worse"
    return change, "better" if bound is not None and bound < 0 else "within noise"
