"""From runs to figures: which marks the scatter shows and which cells the slice map shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from engine.records import Band, Experiment, QualityReport, QualityVerdict, SliceQuality, Study
from engine.reports.compare import QUANTILE
from engine.reports.rows import CompareRow
from pages._ui.charts import show
from pages._ui.compare_table import outcome
from pages._ui.parts import card_title
from pages._ui.scatter import Mark, speed_against_quality
from pages._ui.slice_map import slice_map
from pages._ui.words import METRICS, drop_unit, family, metric_name, with_times_sign

PERCENT = 100.0
MAX_COLUMNS, MAX_SLICES = 10, 40
QUANTITY = {0.5: "Median latency", 0.99: "p99 latency", None: "Throughput"}


def scatter_card(
    study: Study, runs: Sequence[Experiment], rows: Sequence[CompareRow], names: Mapping[str, str], batch: int
) -> None:
    """Speed-up in the goal's quantity against the change in quality."""
    goal, band = study.promise.goal, study.promise.band
    at_goal = batch == study.workload.batch_size
    quantile = QUANTILE[goal.kind] if at_goal else 0.5
    by_id = {run.id: run for run in runs}
    marks = [mark for row in rows if (mark := _mark(study, by_id[row.experiment], row, names, batch, quantile))]
    if band.metric is None or len(marks) < 2:
        return
    unit = drop_unit(band)
    figure = speed_against_quality(
        marks,
        goal=goal.factor if at_goal else None,
        band=band.max_drop * PERCENT,
        x_title=f"{QUANTITY[quantile]} against the original, times better, {batch} per call (right is faster)",
        y_title=f"{metric_name(band.metric)} against the original, {unit} (up is better)",
    )
    with st.container(border=True, key="cm-scatter-card", gap="xsmall"):
        card_title("Speed against quality")
        n_kept = sum(mark.strong and mark.family != "baseline" for mark in marks)
        show(figure, "cm-scatter", f"{len(marks) - 1} variants; {n_kept} keep the promise")
        st.caption(
            "The diamond is the original. Filled marks keep the promise, open marks miss it. Bars are the 95 % interval"
            " of the speed-up, and how bad the quality could still be. Shape and colour tell the kind of lever."
        )


def _mark(
    study: Study, run: Experiment, row: CompareRow, names: Mapping[str, str], batch: int, quantile: float | None
) -> Mark | None:
    if row.is_baseline:
        return Mark("Original", "baseline", 1.0, None, None, 0.0, None, "Baseline", strong=True)
    found = next((c for c in run.comparisons if c.workload.batch_size == batch and c.quantile == quantile), None)
    if found is None or run.quality is None or run.quality.drop is None:
        return None
    word = outcome(study, row)
    bound = run.quality.bound
    return Mark(
        name=_label(run, names[run.id]),
        family=family(run.spec.recipe),
        speedup=1 / found.ratio,
        low=1 / found.high,
        high=1 / found.low,
        change=-run.quality.drop * PERCENT,
        change_low=None if bound is None else -bound * PERCENT,
        outcome=f"{word}: {with_times_sign(row.reason)}" if row.reason else word,
        strong=word == "Meets the promise",
    )


def _label(run: Experiment, name: str) -> str:
    """Without a leading export, which the later steps need anyway: 'INT8, static'."""
    steps = run.spec.recipe.steps
    return name.partition(" → ")[2] if len(steps) > 1 and steps[0].lever.startswith("export.") else name


def slices_card(study: Study, runs: Sequence[Experiment], names: Mapping[str, str]) -> None:
    """Slices × variants, the worst first when there are many."""
    shown = [run for run in runs if run.quality and run.quality.slices and run.comparisons][-MAX_COLUMNS:]
    if not shown:
        return
    band = study.promise.band
    worst: dict[tuple[str, str], float] = {}
    for run in shown:
        for cell in run.quality.slices if run.quality else ():
            place = (cell.column, cell.value)
            worst[place] = max(worst.get(place, float("-inf")), cell.drop if cell.drop is not None else float("-inf"))
    kept = set(sorted(worst, key=lambda place: -worst[place])[:MAX_SLICES])
    figure = slice_map([(names[run.id], _cells(run, kept, band)) for run in shown], band.slice_max_drop, PERCENT)
    metric = METRICS[band.metric] if band.metric else "quality"
    with st.container(border=True, key="cm-slices-card", gap="xsmall"):
        card_title("Slices")
        show(
            figure,
            "cm-slices",
            f"Change in {metric} for {len(kept)} slices and {len(shown)} variants",
        )
        cut = f" The {MAX_SLICES} worst of {len(worst)} slices are shown." if len(worst) > MAX_SLICES else ""
        st.caption(
            f"Change in {metric} against the original, {drop_unit(band)}; a minus is a loss. "
            f"Tinted beyond half of the limit ({band.slice_max_drop * PERCENT:.2f}), dark with ✕ beyond the limit. "
            f"Hatched: too few rows for a verdict.{cut}"
        )


def _cells(run: Experiment, kept: set[tuple[str, str]], band: Band) -> list[SliceQuality]:
    report = run.quality
    assert report is not None
    whole = SliceQuality(
        column="All rows", value="", n_rows=report.n_rows, baseline=report.baseline, candidate=report.candidate,
        drop=report.drop, bound=report.bound, verdict=_whole(report, band.max_drop),
    )  # fmt: skip
    return [whole, *(cell for cell in report.slices if (cell.column, cell.value) in kept)]


def _whole(report: QualityReport, limit: float) -> QualityVerdict:
    """All rows have a limit of their own; the report's verdict also speaks for the slices."""
    if report.drop is None:
        return "not judged"
    return "outside" if report.drop > limit else "within band"
