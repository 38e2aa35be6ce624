"""The untouched model in figures: each with its interval, or the reason why there is none."""

from __future__ import annotations

import streamlit as st

from engine.records import Experiment, Interval, Measurement, QualityReport, Study
from engine.reports import numbers
from engine.reports.money import cost_per_1k
from pages._ui.explanations import why
from pages._ui.flags import merged
from pages._ui.parts import tile, warn
from pages._ui.words import cost_unit, metric_name

Tile = tuple[str, str, str, str]  # label, value, what stands below it, what it means
TIMES = {"p50 latency": "p50_ms", "p95 latency": "p95_ms", "p99 latency": "p99_ms", "First call": "cold_start_ms"}


def baseline_tiles(study: Study, run: Experiment | None) -> None:
    """The figures of the finished baseline at the primary batch; before there is one, the tiles that will hold them."""
    measured = None if run is None else primary(run, study)
    tiles = _empty(study) if run is None or measured is None else _tiles(study, run, measured)
    with st.container(key="st-baseline"), st.grid(4, min_column_width=128):
        for label, value, note, meaning in tiles:
            tile(label, value, note, meaning)
    if measured is not None:
        warn(merged([measured]))


def primary(run: Experiment, study: Study) -> Measurement | None:
    """The measurement at the study's own batch, else the first."""
    return next((m for m in run.measurements if m.workload == study.workload), next(iter(run.measurements), None))


def _tiles(study: Study, run: Experiment, measured: Measurement) -> list[Tile]:
    per_call = f"batch {measured.workload.batch_size:,}"
    rate = numbers.rate(measured.items_per_s).split(numbers.SPACE)[0]
    size = run.artefact.size_bytes if run.artefact else None
    return [
        ("p50 latency", numbers.latency(measured.p50_ms.value), _spread(measured.p50_ms), why("p50_ms")),
        _tail("p95 latency", measured.p95_ms, measured),
        _tail("p99 latency", measured.p99_ms, measured),
        ("First call", numbers.latency(measured.cold_start_ms), "of a fresh process", why("cold_start_ms")),
        ("Load", numbers.latency(measured.load_ms), "until it is ready", why("load_ms")),
        ("Items per second", rate, _rate_spread(measured) or per_call, f"{why('items_per_s')}  \nAt {per_call}."),
        _auto_batch(run),
        ("Memory", numbers.size(measured.peak_bytes), "one process", why("peak_bytes")),
        ("Size", numbers.size(size), "on disk", why("size_bytes")),
        ("Compressed", numbers.size(run.compressed_bytes), "to a replica", why("compressed_bytes")),
        _cost(study, measured),
        _quality(study, run.quality),
    ]


def _empty(study: Study) -> list[Tile]:
    """The same tiles in the same places, so that nothing moves when the figures come."""
    named = {
        **TIMES, "Load": "load_ms", "Items per second": "items_per_s", "Auto batch": "auto_batch_size",
        "Memory": "peak_bytes", "Size": "size_bytes", "Compressed": "compressed_bytes",
        "Cost per 1,000": "cost_per_1k", metric_name(study.promise.band.metric): "metric_value",
    }  # fmt: skip
    return [(label, numbers.MISSING, "not measured yet", why(figure)) for label, figure in named.items()]


def _tail(label: str, value: Interval | None, measured: Measurement) -> Tile:
    meaning = why(TIMES[label])
    if value is None:
        return label, numbers.MISSING, f"{measured.n_calls:,} calls: too few", meaning
    return label, numbers.latency(value.value), _spread(value), meaning


def _cost(study: Study, measured: Measurement) -> Tile:
    cost = cost_per_1k(study.price_per_hour, measured.items_per_s)
    if cost is None:
        return "Cost per 1,000", numbers.MISSING, "no price given", why("cost_per_1k")
    label, factor = cost_unit(cost)
    return label, numbers.money(cost * factor, study.currency), "at full use", why("cost_per_1k")


def _quality(study: Study, report: QualityReport | None) -> Tile:
    label = metric_name(study.promise.band.metric)
    if report is None or report.candidate is None:
        note = "no labels" if study.promise.band.metric is None else "not judged"
        return label, numbers.MISSING, note, why("metric_value")
    return label, numbers.quality(report.candidate, report.metric), f"{report.n_rows:,} rows", why("metric_value")


def _auto_batch(run: Experiment) -> Tile:
    size = run.auto_batch_size
    note = "nearly the best rate" if size else "not looked for"
    return "Auto batch", f"{size:,}" if size else numbers.MISSING, note, why("auto_batch_size")


def _spread(value: Interval) -> str:
    if value.low is None or value.high is None:
        return "no interval"
    return f"± {numbers.latency((value.high - value.low) / 2)}"


def _rate_spread(measured: Measurement) -> str | None:
    found = measured.items_per_s_interval
    if found is None or found.low is None or found.high is None:
        return None
    low, high = (numbers.rate(bound).split(numbers.SPACE)[0] for bound in (found.low, found.high))
    return numbers.between(low, high)
