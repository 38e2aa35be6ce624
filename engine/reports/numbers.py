"""How every number a person reads is written. Nothing else formats; exports keep the plain numbers.

Thin no-break space before a unit, none before %, a real minus sign, comma thousands, point decimals. A missing value
is a dash.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

from engine.records import METRICS, Metric

SPACE, MINUS, FIGURE_SPACE = "\u202f", "\u2212", "\u2007"
UP, DOWN = "▲", "▼"
MISSING = "–"
SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "INR": "₹", "JPY": "¥"}
SIZES = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
TIGHT = ("%", "×")  # units that follow their number without a space
MOST_DECIMALS = 6
Tone = Literal["better", "worse", "same"]


def significant(value: float, digits: int = 3) -> str:
    """A number with this many significant figures: 24.8, 0.222, 1,240."""
    if value == 0:
        return "0"
    rounded = _round(value, digits)
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}".replace("-", MINUS)


def signed(value: float, decimals: int = 1) -> str:
    """A number with its sign; none when it rounds to zero."""
    text = f"{abs(value):,.{decimals}f}"
    sign = "" if float(text.replace(",", "")) == 0 else "+" if value > 0 else MINUS
    return sign + text


def latency(ms: float | None) -> str:
    """840 µs · 4.21 ms · 1.42 s."""
    if ms is None:
        return MISSING
    rounded = _round(ms, 3)
    if 0 < rounded < 1:
        return f"{significant(ms * 1000)}{SPACE}µs"
    return f"{significant(ms)}{SPACE}ms" if rounded < 1000 else f"{significant(ms / 1000)}{SPACE}s"


def rate(items_per_s: float | None) -> str:
    """4,183 items/s; from 100,000 on in thousands, below 10 with three figures."""
    if items_per_s is None:
        return MISSING
    if items_per_s < 10:
        return f"{significant(items_per_s)}{SPACE}items/s"
    if items_per_s < 99_999.5:
        return f"{items_per_s:,.0f}{SPACE}items/s"
    return f"{items_per_s / 1000:,.0f}k{SPACE}items/s"


def size(size_bytes: float | None) -> str:
    """412 MB, in decimal units."""
    if size_bytes is None:
        return MISSING
    for unit, factor in SIZES:
        if _round(size_bytes, 3) >= factor:
            return f"{significant(size_bytes / factor)}{SPACE}{unit}"
    return f"{size_bytes:.0f}{SPACE}bytes"


def percent(fraction: float | None, decimals: int = 0) -> str:
    """0.67 -> 67%."""
    return MISSING if fraction is None else f"{fraction * 100:.{decimals}f}%".replace("-", MINUS)


def quality(value: float | None, metric: Metric | None) -> str:
    """91.34% where the metric has a fixed scale; four figures for a loss in a unit of its own."""
    if value is None or metric is None:
        return MISSING
    return percent(value, 2) if METRICS[metric].fixed_scale else significant(value, 4)


def points(difference: float | None, decimals: int = 2) -> str:
    """A difference of two shares: −0.0018 -> −0.18 points. Never a per cent."""
    return MISSING if difference is None else f"{signed(difference * 100, decimals)}{SPACE}points"


def quality_change(drop: float | None, metric: Metric | None, *, relative: bool) -> str:
    """How the metric moved, from its drop (positive is worse): −0.18 points, or +1.20% for a loss.

    A loss without a fixed scale moves in per cent of the original's, whatever `relative` says.
    """
    if drop is None:
        return MISSING
    facts = METRICS[metric] if metric is not None else None
    moved = drop if facts and not facts.larger_is_better else -drop
    return f"{signed(moved * 100, 2)}%" if relative or (facts and not facts.fixed_scale) else points(moved)


def loss_amount(drop: float | None, *, relative: bool) -> str:
    """A drop or its bound as it is, positive is worse: 0.41 points, or 1.20%; a gain has a minus."""
    if drop is None:
        return MISSING
    text = signed(drop * 100, 2).lstrip("+")
    return f"{text}%" if relative else f"{text}{SPACE}points"


def times(ratio: float | None) -> str:
    """4.0×, with a second decimal below 0.95."""
    return MISSING if ratio is None else f"{ratio:.{1 if ratio >= 0.95 else 2}f}×"


def change(
    new: float, old: float, *, better: Literal["lower", "higher"] = "lower", certain: bool = True
) -> tuple[str, Tone]:
    """("▼ 75%", "better"): the arrow says which way the number moved, the tone whether that is good.

    certain=False: the difference lies inside the noise, and then says so without an arrow.
    """
    share = new / old - 1
    if not certain:
        return "within noise", "same"
    if round(abs(share) * 100) == 0:
        return "no change", "same"
    tone: Tone = "better" if (share < 0) == (better == "lower") else "worse"
    return f"{DOWN if share < 0 else UP}{SPACE}{abs(share) * 100:.0f}%", tone


def between(low: str, high: str) -> str:
    """An interval of two written numbers: −0.34 to −0.03."""
    return f"{low} to {high}"


def money(amount: float | None, currency: str) -> str:
    """$0.222 · ₹2.3 lakh · €1,240. A currency without a symbol keeps its code."""
    if amount is None:
        return MISSING
    symbol = SYMBOLS.get(currency.upper(), currency + SPACE)
    if symbol == "₹" and abs(amount) >= 1e5:
        unit, factor = ("crore", 1e7) if abs(amount) >= 1e7 else ("lakh", 1e5)
        return f"₹{amount / factor:,.1f}{SPACE}{unit}"
    return symbol + (f"{amount:,.0f}" if abs(amount) >= 100 else significant(amount))


def duration(seconds: float | None) -> str:
    """4.2 s · 48 s · 2 min 05 s · 1 h 12 min."""
    if seconds is None:
        return MISSING
    if seconds < 9.95:
        return f"{seconds:.1f}{SPACE}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}{SPACE}s"
    if whole < 3600:
        return f"{whole // 60}{SPACE}min {whole % 60:02d}{SPACE}s"
    return f"{whole // 3600}{SPACE}h {whole % 3600 // 60:02d}{SPACE}min"


def decimals(values: Iterable[float | None]) -> int:
    """How many decimals a column takes: three figures for its first value (the baseline), two for its smallest."""
    found = [abs(value) for value in values if value]
    if not found:
        return 2
    wanted = (2 - _power(_round(found[0], 3)), 1 - _power(_round(min(found), 2)))
    return min(MOST_DECIMALS, max(0, *wanted))


def column(values: Sequence[float | None], unit: str = "", *, places: int | None = None, symbol: str = "") -> list[str]:
    """One unit and one number of decimals for a whole column; `places` where more rows than these decide it.

    Padded with figure spaces, which are one digit wide, so that a left-aligned column lines up on the point.
    symbol: what stands before every number, a currency.
    """
    shown = decimals(values) if places is None else places
    texts = [None if value is None else symbol + f"{value:,.{shown}f}" for value in values]
    width = max((len(text) for text in texts if text is not None), default=0)
    tail = ("" if unit in TIGHT else SPACE) + unit if unit else ""
    return [
        MISSING if text is None else FIGURE_SPACE * (width - len(text)) + text.replace("-", MINUS) + tail
        for text in texts
    ]


def time_unit(ms: float | None) -> tuple[str, float]:
    """In what a column of times is written, by one of them: the unit, and what milliseconds are multiplied by."""
    rounded = _round(ms or 1.0, 3)
    return ("µs", 1000.0) if rounded < 1 else ("ms", 1.0) if rounded < 1000 else ("s", 0.001)


def size_unit(size_bytes: float | None) -> tuple[str, float]:
    """The same for sizes, from bytes."""
    rounded = _round(size_bytes or 1e6, 3)
    return next(((unit, 1 / factor) for unit, factor in SIZES if rounded >= factor), ("bytes", 1.0))


def _round(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def _power(value: float) -> int:
    return math.floor(math.log10(value))
