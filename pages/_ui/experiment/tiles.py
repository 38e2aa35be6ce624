"""The figures of one run at the study's batch, each beside the original's."""

from __future__ import annotations

import streamlit as st

from engine.records import Experiment, Interval, Measurement, Study
from engine.reports import numbers
from engine.reports.money import cost_per_1k
from pages._ui import loaders
from pages._ui.explanations import why
from pages._ui.parts import tile
from pages._ui.study.baseline import primary
from pages._ui.words import cost_unit, metric_name

Tile = tuple[str, str, str, str]  # label, value, the original's, what it means


def run_tiles(study: Study, run: Experiment) -> None:
    """A tile per figure; below each the original's in a neutral pill. The verdict on a difference is in the strip."""
    after = primary(run, study)
    if after is None:
        return
    before = next((one for one in run.baselines if one.workload == after.workload), None)
    tiles = [*_times(after, before), *_needs(study, run, after, before), *_quality(run)]
    with st.grid(4, min_column_width=150):
        for label, value, was, meaning in tiles:
            tile(label, value, was, meaning)


def _times(after: Measurement, before: Measurement | None) -> list[Tile]:
    batch = f"batch {after.workload.batch_size:,}"
    rate = numbers.rate(after.items_per_s).split(numbers.SPACE)[0]
    return [
        (
            "p50 latency",
            numbers.latency(after.p50_ms.value),
            _was(before.p50_ms if before else None) or batch,
            why("p50_ms"),
        ),
        ("p99 latency", _tail(after.p99_ms), _below_p99(after, before), why("p99_ms")),
        (
            "First call",
            numbers.latency(after.cold_start_ms),
            f"was {numbers.latency(before.cold_start_ms)}" if before else "fresh process",
            why("cold_start_ms"),
        ),
        (
            "Items per second",
            rate,
            f"was {numbers.rate(before.items_per_s).split(numbers.SPACE)[0]}" if before else batch,
            why("items_per_s"),
        ),
        (
            "Memory",
            numbers.size(after.peak_bytes),
            f"was {numbers.size(before.peak_bytes)}" if before else "one process",
            why("peak_bytes"),
        ),
    ]


def _needs(study: Study, run: Experiment, after: Measurement, before: Measurement | None) -> list[Tile]:
    found: list[Tile] = []
    if run.artefact:
        original, _ = loaders.model(study.model_id, loaders.version())
        was = f"was {numbers.size(original.size_bytes)}" if run.artefact.id != original.id else "on disk"
        found.append(("Size", numbers.size(run.artefact.size_bytes), was, why("size_bytes")))
    cost = cost_per_1k(study.price_per_hour, after.items_per_s)
    if cost is not None:
        old = cost_per_1k(study.price_per_hour, before.items_per_s) if before else None
        label, factor = cost_unit(old if old is not None else cost)
        was = f"was {numbers.money(old * factor, study.currency)}" if old is not None else "at full use"
        found.append((label, numbers.money(cost * factor, study.currency), was, why("cost_per_1k")))
    return found


def _quality(run: Experiment) -> list[Tile]:
    report = run.quality
    if report is None or report.candidate is None:
        return []
    value = numbers.quality(report.candidate, report.metric)
    was = f"{report.n_rows:,} rows" if run.is_baseline else f"was {numbers.quality(report.baseline, report.metric)}"
    return [(metric_name(report.metric), value, was, why("metric_value"))]


def _was(found: Interval | None) -> str | None:
    return None if found is None else f"was {numbers.latency(found.value)}"


def _below_p99(after: Measurement, before: Measurement | None) -> str:
    if after.p99_ms is None:
        return "too few calls"
    return _was(before.p99_ms if before else None) or f"batch {after.workload.batch_size:,}"


def _tail(found: Interval | None) -> str:
    return numbers.latency(found.value) if found else numbers.MISSING
