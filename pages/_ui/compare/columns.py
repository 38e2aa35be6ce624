"""The columns of the comparison: figures, parameters of levers, and what is known of each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from engine.records import METRICS, Interval, MeasurementSummary, Study
from engine.reports import numbers
from engine.reports.amdahl import whole_request_speedup
from pages._ui.compare.column import EMPTY, Bounds, Column, Moved, Value, from_comparison, from_drop, from_sizes
from pages._ui.compare.facts import fact_columns, parameter_columns
from pages._ui.compare.variants import Variant
from pages._ui.words import cost_unit, metric_name

DEFAULT = (
    "p50_ms", "speedup", "goal_speedup", "whole_request", "speedup_vs_export", "p99_ms", "metric_value",
    "worst_slice_drop", "size_bytes", "cost_per_1k",
)  # fmt: skip


@dataclass(frozen=True)
class Beside:
    """What the variants are measured against."""

    study: Study
    baseline: Variant | None
    batch: int
    request_ms: float | None = None

    @property
    def at_primary(self) -> bool:
        """True at the batch of the promise."""
        return self.batch == self.study.workload.batch_size


def catalogue(beside: Beside, variants: Sequence[Variant]) -> tuple[Column, ...]:
    """Every column in which some variant has a value, in the order of the screen."""
    figures = [
        *_times(beside),
        *_speedups(beside),
        *_quality(beside),
        *_resources(beside),
        *_cost(beside, variants),
    ]
    listed = [*figures, *parameter_columns(variants), *fact_columns()]
    return tuple(found for column in listed if (found := column.measured(variants)) is not None)


def _times(beside: Beside) -> list[Column]:
    unit, factor = numbers.time_unit(beside.baseline.row.p50_ms if beside.baseline else None)

    def time(name: str, title: str, quantile: float) -> Column:
        return Column(
            name, title, _scaled(f"row.{name}", factor), unit=unit, bounds=_interval(name, factor), bounds_unit=unit,
            moved=_unless_baseline(lambda one: from_comparison(one.compared.get(quantile))), explains=name,
        )  # fmt: skip

    rate = Column(
        "items_per_s", "Items/s", attrgetter("row.items_per_s"), explains="items_per_s",
        moved=_unless_baseline(lambda one: from_comparison(one.compared.get(None), inverse=True)),
    )  # fmt: skip
    return [time("p50_ms", "p50", 0.5), time("p95_ms", "p95", 0.95), time("p99_ms", "p99", 0.99), rate]


def _speedups(beside: Beside) -> list[Column]:
    goal = beside.study.promise.goal.kind
    found = [
        Column(
            "speedup", "Speed-up", attrgetter("row.speedup"), unit="×", places=2, explains="speedup",
            bounds=lambda one: (one.row.speedup_low, one.row.speedup_high), bounds_unit="×", always_bounds=True,
        )
    ]  # fmt: skip
    if goal != "p50":
        found.append(
            Column(
                "goal_speedup", f"Speed-up in {goal}", attrgetter("row.goal_speedup"), unit="×", places=2,
                bounds=lambda one: (one.row.goal_speedup_low, None), bounds_names=("at least", ""), bounds_unit="×",
                always_bounds=True, explains="goal_speedup",
            )
        )  # fmt: skip
    model_ms = beside.baseline.row.p50_ms if beside.baseline and beside.at_primary else None
    whole = Column(
        "whole_request", "Whole request", unit="×", places=2, explains="whole_request",
        value=lambda one: whole_request_speedup(model_ms, beside.request_ms, one.row.speedup),
    )  # fmt: skip
    against = Column(
        "speedup_vs_export", "Against plain export", attrgetter("row.speedup_vs_export"), unit="×", places=2,
        explains="speedup_vs_export",
    )  # fmt: skip
    return [*found, whole, against]


def _quality(beside: Beside) -> list[Column]:
    band = beside.study.promise.band
    if band.metric is None:
        return [_flips()]
    facts = METRICS[band.metric]
    fixed, up = facts.fixed_scale, facts.larger_is_better
    unit = "%" if band.relative or not fixed else "points"
    value = _scaled("row.metric_value", 100.0 if fixed else 1.0)

    def overall(one: Variant) -> Moved:
        if one.row.quality_verdict == "exact":
            return 0.0, "same answers"
        return from_drop(one.row.metric_drop, _bound(one), larger_is_better=up)

    def slice_moved(one: Variant) -> Moved:
        worst = one.run.quality.worst_slice if one.run.quality else None
        if worst is None:
            return EMPTY
        harmed = None if worst.harm_p is None else worst.harm_p < band.alpha
        return from_drop(worst.drop, worst.bound, larger_is_better=up, harmed=harmed)

    metric = Column(
        "metric_value", metric_name(band.metric), value, unit="%" if fixed else "", places=2 if fixed else None,
        bounds=_at_worst(up), bounds_names=("at worst", ""), bounds_unit=unit,
        moved=_unless_baseline(overall), change_unit=unit, change_places=2, explains="metric_value",
    )  # fmt: skip
    worst = Column(
        "worst_slice_drop", "Worst slice", lambda one: None if one.is_baseline else one.row.worst_slice,
        moved=_unless_baseline(slice_moved), change_unit=unit, change_places=2, explains="worst_slice_drop",
    )  # fmt: skip
    return [metric, worst, _flips()]


def _flips() -> Column:
    def share(one: Variant) -> Value:
        flips = one.run.quality.flip_fraction if one.run.quality and not one.is_baseline else None
        return None if flips is None else flips * 100

    return Column("flip_fraction", "Changed answers", share, unit="%", places=2, explains="flip_fraction")


def _resources(beside: Beside) -> list[Column]:
    base = beside.baseline
    original = base.run.artefact.size_bytes if base and base.run.artefact else None
    packed = base.run.compressed_bytes if base else None

    def size(key: str, title: str, value: Callable[[Variant], float | None], old: float | None) -> Column:
        unit, factor = numbers.size_unit(old)
        return Column(
            key, title, lambda one: _times_factor(value(one), factor), unit=unit, explains=key,
            moved=_unless_baseline(lambda one: from_sizes(value(one), old)),
        )  # fmt: skip

    held = base.here.peak_bytes if base and base.here else None
    memory_unit, memory_factor = numbers.size_unit(held)
    first_unit, first_factor = numbers.time_unit(base.here.cold_start_ms if base and base.here else None)
    load_unit, load_factor = numbers.time_unit(base.here.load_ms if base and base.here else None)
    return [
        size("size_bytes", "Size", lambda one: one.row.size_bytes, original),
        size("compressed_bytes", "Compressed", lambda one: one.run.compressed_bytes, packed),
        _here("peak_bytes", "Memory", memory_unit, memory_factor),
        _here("cold_start_ms", "First call", first_unit, first_factor),
        _here("load_ms", "Load", load_unit, load_factor),
    ]


def _here(name: str, title: str, unit: str, factor: float) -> Column:
    """A figure of the run at this batch, without an interval: its change is written and not judged."""

    def read(found: MeasurementSummary | None) -> float | None:
        return None if found is None else float(getattr(found, name))

    return Column(
        name, title, lambda one: _times_factor(read(one.here), factor), unit=unit, explains=name,
        moved=_unless_baseline(lambda one: from_sizes(read(one.here), read(one.beside), exact=False)),
    )  # fmt: skip


def _cost(beside: Beside, variants: Sequence[Variant]) -> list[Column]:
    """Cost follows the mean call at the primary batch: where time cannot be told apart, cost cannot either."""
    first = next((one.row.cost_per_1k for one in variants if one.row.cost_per_1k is not None), None)
    if first is None:
        return []
    title, factor = cost_unit(first)
    currency = beside.study.currency
    return [
        Column(
            "cost_per_1k", title, _scaled("row.cost_per_1k", float(factor)), unit=currency, explains="cost_per_1k",
            symbol=numbers.SYMBOLS.get(currency.upper(), f"{currency}{numbers.SPACE}"),
            moved=_unless_baseline(lambda one: from_comparison(one.primary.get(None) or one.primary.get(0.5))),
        )
    ]  # fmt: skip


def _unless_baseline(moved: Callable[[Variant], Moved]) -> Callable[[Variant], Moved]:
    return lambda one: EMPTY if one.is_baseline else moved(one)


def _scaled(path: str, factor: float) -> Callable[[Variant], float | None]:
    read = attrgetter(path)
    return lambda one: _times_factor(read(one), factor)


def _times_factor(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _interval(name: str, factor: float) -> Callable[[Variant], Bounds]:
    def bounds(one: Variant) -> Bounds:
        found: Interval | None = getattr(one.here, name) if one.here else None
        if found is None:
            return None, None
        return _times_factor(found.low, factor), _times_factor(found.high, factor)

    return bounds


def _at_worst(larger_is_better: bool) -> Callable[[Variant], Bounds]:
    def bounds(one: Variant) -> Bounds:
        bound = None if one.is_baseline else _bound(one)
        return (None if bound is None else 100 * (-bound if larger_is_better else bound)), None

    return bounds


def _bound(one: Variant) -> float | None:
    return one.run.quality.bound if one.run.quality else None
