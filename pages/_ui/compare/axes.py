"""What the picture can show on its axes: a figure of each variant with its interval, and the line of the promise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from engine.records import METRICS, Comparison
from engine.reports import numbers
from engine.reports.compare import QUANTILE
from pages._ui.compare.columns import Beside
from pages._ui.compare.variants import Variant
from pages._ui.words import cost_unit, drop_unit, metric_name

PERCENT = 100.0
TIMES = {0.5: "Median latency", 0.99: "p99 latency", None: "Throughput"}
LATENCY = {"p50_ms": ("p50 latency", "Median time", 0.5), "p99_ms": ("p99 latency", "p99 time", 0.99)}


@dataclass(frozen=True)
class Spot:
    """Where a variant stands on one axis; low, high: as far as they are known."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """Of its interval, as far as one is known."""
        return self.value if self.low is None else self.low, self.value if self.high is None else self.high


@dataclass(frozen=True)
class Axis:
    """label: in the list of axes. title: at the axis, with the definition. larger: whether larger is better.

    limit: where the promise draws its line; limit_text: what is written there. unit: behind the ticks.
    """

    key: str
    label: str
    title: str
    larger: bool
    log: bool
    read: Callable[[Variant], Spot | None]
    unit: str = ""
    limit: float | None = None
    limit_text: str = ""
    at_original: float | None = None


def across(beside: Beside) -> dict[str, Axis]:
    """What the horizontal axis can show."""
    found = [
        _speedup(beside),
        *(_latency(beside, key) for key in LATENCY),
        _rate(beside),
        _cost(beside),
        _size(beside),
        _memory(beside),
    ]
    return {axis.key: axis for axis in found if axis is not None}


def upwards(beside: Beside) -> dict[str, Axis]:
    """What the vertical axis can show."""
    judged = beside.study.promise.band.metric is not None
    found = [_quality(beside), _worst_slice(beside)] if judged else []
    found += [_flips(), _size(beside), _memory(beside)]
    return {axis.key: axis for axis in found if axis is not None}


def _items(batch: int) -> str:
    return f"{batch:,} item{'' if batch == 1 else 's'}"


def _speedup(beside: Beside) -> Axis:
    goal = beside.study.promise.goal
    quantile = QUANTILE[goal.kind] if beside.at_primary else 0.5

    def read(one: Variant) -> Spot | None:
        if one.is_baseline:
            return Spot(1.0)
        found = one.compared.get(quantile)
        return None if found is None else Spot(1 / found.ratio, 1 / found.high, 1 / found.low)

    return Axis(
        "speedup", "Speed-up",
        f"{TIMES[quantile]} against the original, times better, {_items(beside.batch)} per call (right is faster)",
        larger=True, log=True, read=read, unit="×", at_original=1.0,
        limit=goal.factor if beside.at_primary else None, limit_text=f"Goal: {goal.factor:g}×",
    )  # fmt: skip


def _latency(beside: Beside, key: str) -> Axis:
    label, words, quantile = LATENCY[key]
    base = getattr(beside.baseline.row, key) if beside.baseline else None
    unit, factor = numbers.time_unit(base)
    goal = beside.study.promise.goal
    set_here = beside.at_primary and QUANTILE[goal.kind] == quantile

    def read(one: Variant) -> Spot | None:
        value, known = getattr(one.row, key), getattr(one.here, key) if one.here else None
        if value is None:
            return None
        low, high = (known.low, known.high) if known else (None, None)
        return Spot(value * factor, None if low is None else low * factor, None if high is None else high * factor)

    limit = base * factor / goal.factor if base is not None and set_here else None
    return Axis(
        key, label, f"{words} of a call of {_items(beside.batch)}, rows in to scores out, {unit} (left is faster)",
        larger=False, log=True, read=read, unit=unit, limit=limit, at_original=base * factor if base else None,
        limit_text="" if limit is None else f"Goal: {numbers.latency(limit / factor)}, {goal.factor:g}× faster",
    )  # fmt: skip


def _rate(beside: Beside) -> Axis:
    base = beside.baseline.row.items_per_s if beside.baseline else None
    return Axis(
        "items_per_s", "Items per second",
        f"Items per second of one process, calls of {_items(beside.batch)} (right is more)",
        larger=True, log=True, at_original=base,
        read=lambda one: _spread(one.row.items_per_s, one.compared.get(None), inverse=True),
    )  # fmt: skip


def _cost(beside: Beside) -> Axis | None:
    base = beside.baseline.row.cost_per_1k if beside.baseline else None
    if base is None:
        return None
    title, factor = cost_unit(base)
    goal = beside.study.promise.goal
    limit = base * factor / goal.factor if goal.kind == "cost" else None
    money = partial(numbers.money, currency=beside.study.currency)

    def read(one: Variant) -> Spot | None:
        cost = one.row.cost_per_1k
        return _spread(None if cost is None else cost * factor, one.primary.get(None))

    return Axis(
        "cost_per_1k", title, f"{title} at full use, {beside.study.currency} (left is cheaper)",
        larger=False, log=True, read=read, limit=limit, at_original=base * factor,
        limit_text="" if limit is None else f"Goal: {money(limit)}, {goal.factor:g}× cheaper",
    )  # fmt: skip


def _size(beside: Beside) -> Axis:
    base = beside.baseline.row.size_bytes if beside.baseline else None
    unit, factor = numbers.size_unit(base)
    return Axis(
        "size_bytes", "Size", f"Size of the model's files, {unit} (smaller is better)", larger=False, log=True,
        at_original=base * factor if base else None, unit=unit,
        read=lambda one: None if one.row.size_bytes is None else Spot(one.row.size_bytes * factor),
    )  # fmt: skip


def _memory(beside: Beside) -> Axis:
    base = beside.baseline.here.peak_bytes if beside.baseline and beside.baseline.here else None
    unit, factor = numbers.size_unit(base)
    return Axis(
        "peak_bytes", "Memory", f"Most memory of the serving process, {unit} (smaller is better)", larger=False,
        log=True, at_original=base * factor if base else None, unit=unit,
        read=lambda one: None if one.here is None else Spot(one.here.peak_bytes * factor),
    )  # fmt: skip


def _quality(beside: Beside) -> Axis:
    band = beside.study.promise.band

    def read(one: Variant) -> Spot | None:
        if one.is_baseline:
            return Spot(0.0)
        report = one.run.quality
        return None if report is None else _loss(report.drop, report.bound)

    return Axis(
        "quality", metric_name(band.metric), _change_title(beside, metric_name(band.metric)), larger=True, log=False,
        read=read, limit=-band.max_drop * PERCENT, at_original=0.0,
        limit_text=f"Band: lose at most {band.max_drop * PERCENT:g}",
    )  # fmt: skip


def _worst_slice(beside: Beside) -> Axis:
    band = beside.study.promise.band

    def read(one: Variant) -> Spot | None:
        if one.is_baseline:
            return Spot(0.0)
        worst = one.run.quality.worst_slice if one.run.quality else None
        return None if worst is None else _loss(worst.drop, worst.bound)

    title = _change_title(beside, f"{metric_name(band.metric)} of the worst slice")
    return Axis(
        "worst_slice", "Worst slice", title, larger=True,
        log=False, read=read, limit=-band.slice_max_drop * PERCENT, at_original=0.0,
        limit_text=f"Band: no slice loses more than {band.slice_max_drop * PERCENT:g}",
    )  # fmt: skip


def _change_title(beside: Beside, what: str) -> str:
    band = beside.study.promise.band
    assert band.metric is not None
    unit = drop_unit(band) if METRICS[band.metric].fixed_scale else "% of the original's loss"
    return f"{what}, gained (+) or lost (−) against the original, {unit} (up is better)"


def _flips() -> Axis:
    def read(one: Variant) -> Spot | None:
        if one.is_baseline:
            return Spot(0.0)
        share = one.run.quality.flip_fraction if one.run.quality else None
        return None if share is None else Spot(share * PERCENT)

    return Axis("flips", "Changed answers", "Rows whose most likely class changed, % (lower is better)", larger=False,
                log=False, read=read, at_original=0.0)  # fmt: skip


def _loss(drop: float | None, bound: float | None) -> Spot | None:
    """A drop as the change a reader expects: a loss is negative, its bound further down."""
    if drop is None:
        return None
    return Spot(-drop * PERCENT, None if bound is None else -bound * PERCENT)


def _spread(value: float | None, found: Comparison | None, *, inverse: bool = False) -> Spot | None:
    """A value with the relative interval of its comparison."""
    if value is None or found is None:
        return None if value is None else Spot(value)
    low, high = found.low / found.ratio, found.high / found.ratio
    return Spot(value, value / high, value / low) if inverse else Spot(value, value * low, value * high)
