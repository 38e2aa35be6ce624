"""What a run says about quality: the verdict, slice by slice as a picture and a table, and class by class."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine.records import Band, Metric, QualityReport, SliceQuality, Study
from engine.reports import numbers
from pages._ui.charts import show
from pages._ui.experiment.slice_drops import slice_drops
from pages._ui.explanations import about, legend
from pages._ui.parts import card_title, md_badge
from pages._ui.slice_map import change_text
from pages._ui.text import plain
from pages._ui.words import METRICS, metric_name

QUALITY = {
    "within band": "Within band",
    "exact": "Within band",
    "pass": "Pass",
    "outside": "Outside the band",
    "fail": "Fail",
    "too few rows": "Too few rows",
    "not certified": "Not certified",
    "not judged": "Not judged",
}
FIGURES = {
    "Original": "baseline",
    "This run": "candidate",
    "Change": "drop",
    "Could be as bad as": "bound",
    "Verdict": "quality_verdict",
    "Too few rows": "too_few_rows",
}
N_FEW, N_DRAWN = 12, 24
PERCENT = 100


def verdict_line(report: QualityReport) -> str:
    """'ROC AUC 91.00% [Within band] on 4,000 selection rows', and how much was lost at most."""
    if report.candidate is None:
        return f"{md_badge(QUALITY[report.verdict])} {plain(report.reason or 'no metric was computed', 300)}"
    text = (
        f"**{metric_name(report.metric)} {numbers.quality(report.candidate, report.metric)}** "
        f"{md_badge(QUALITY[report.verdict])} on {report.n_rows:,} selection rows"
    )
    if report.n_groups is not None:
        text += f" in {report.n_groups:,} groups"
    if report.reason:
        return f"{text}; {plain(report.reason, 300)}"
    return text


def slices_card(study: Study, report: QualityReport, *, baseline: bool = False) -> None:
    """Every slice that has rows enough: its loss and what the loss could be; of the original alone its value."""
    judged = [cell for cell in report.slices if cell.verdict != "too few rows"]
    few = [cell for cell in report.slices if cell.verdict == "too few rows"]
    if not judged and not few:
        return
    unit = "% of the baseline" if report.relative else "points"
    with st.container(border=True, key="ex-slices", gap="small"):
        card_title("Slice by slice", help=about("slices"))
        drawn = sorted((cell for cell in judged if cell.drop is not None), key=lambda cell: -(cell.drop or 0.0))
        if len(drawn) > 1 and not baseline:
            _picture(drawn, study.promise.band, unit)
        if judged:
            rows = [_slice_row(cell, report.metric, None if baseline else unit) for cell in judged]
            st.table(pd.DataFrame(rows), border="horizontal", hide_index=True, alt="Quality by slice")
        if few:
            st.markdown(too_few(few))
        legend(FIGURES, key="ex-quality-legend")


def _picture(drawn: Sequence[SliceQuality], band: Band, unit: str) -> None:
    metric, shown = METRICS[band.metric] if band.metric else "quality", drawn[:N_DRAWN]
    figure = slice_drops(shown, limit=band.slice_max_drop, unit=PERCENT, title=f"Change in {metric}, {unit}")
    n_outside = sum(cell.verdict in ("outside", "fail") for cell in shown)
    show(figure, "ex-slices", f"Change in {metric} of {len(shown)} slices; {n_outside} beyond the limit")
    cut = f" The {N_DRAWN} that lost most of {len(drawn)} are drawn." if len(drawn) > N_DRAWN else ""
    st.caption(
        "The mark is the change, the bar how bad it could still be, the dashed line the limit of a slice. "
        f"A cross lies beyond the limit.{cut}"
    )


def _slice_row(cell: SliceQuality, metric: Metric | None, unit: str | None) -> dict[str, str]:
    """unit: what a change is counted in; None where there is none, for the original itself."""
    row = {"Slice": plain(f"{cell.column}: {cell.value}", 80), "Rows": f"{cell.n_rows:,}"}
    row["Original"] = numbers.quality(cell.baseline, metric)
    if unit is None:
        return row
    reason = f"  \n:gray[{plain(cell.reason, 120)}]" if cell.reason else ""
    return row | {
        "This run": numbers.quality(cell.candidate, metric),
        f"Change, {unit}": change_text(cell.drop, PERCENT),
        "Could be as bad as": change_text(cell.bound, PERCENT),
        "Verdict": md_badge(QUALITY[cell.verdict]) + reason,
    }


def too_few(cells: Sequence[SliceQuality]) -> str:
    """Slices without a verdict in one line: the most rows first."""
    ordered = sorted(cells, key=lambda cell: -cell.n_rows)
    named = ", ".join(f"{plain(f'{cell.column}: {cell.value}', 60)} ({cell.n_rows:,})" for cell in ordered[:N_FEW])
    more = f" and {len(ordered) - N_FEW} more" if len(ordered) > N_FEW else ""
    reasons = {cell.reason.rpartition(" of ")[2] for cell in cells if cell.reason and " of " in cell.reason}
    needed = f" ({plain(reasons.pop())})" if len(reasons) == 1 else ""
    return f"{md_badge('Too few rows')} for a verdict{needed}, so not counted as kept: {named}{more}."
