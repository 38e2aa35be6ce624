"""A quality curve: what it says, its picture, its table and its files."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from engine.records import Interval
from engine.records.curve import CurvePoint, QualityCurve
from engine.reports import export_table, numbers
from engine.reports.curve import NOT_KNOWN, curve_lines, curve_records, marks
from engine.reports.feature_cost import FeatureCosts
from pages._ui import charts
from pages._ui.compare.export import MIME
from pages._ui.explanations import legend
from pages._ui.text import for_chart, plain
from pages._ui.words import METRICS, metric_name

FIGURES = {"Lost": "drop", "Could be": "bound"}
ROW_PX = 35
DENSE = 12  # labels that fit below the axis at 800


def curve_parts(curve: QualityCurve, costs: FeatureCosts | None) -> None:
    """The sentence first, then picture and table, then the files."""
    *said, how = curve_lines(curve)
    st.markdown("  \n".join(plain(line, 400) for line in said))
    charts.show(_figure(curve), f"st-curve-{curve.over}", _alt(curve))
    st.caption(f"The band is the 95% interval of the loss; dashed, what the promise allows. {plain(how, 400)}")
    if curve.over == "features":
        st.caption(f":material/info: {plain(_fetching(curve, costs), 400)}")
    st.table(_table(curve, costs), border="horizontal", hide_index=True, alt=_alt(curve))
    with st.container(horizontal=True, vertical_alignment="center"):
        legend(FIGURES, key=f"st-curve-legend-{curve.over}")
        st.caption("Export as shown", width="content")
        for ending, mime in MIME.items():
            st.download_button(
                ending.upper() if ending != "md" else "Markdown",
                data=lambda ending=ending: _file(ending, curve, costs),  # type: ignore[misc]
                file_name=f"quality-by-{curve.over}.{ending}",
                mime=mime,
                key=f"st-curve-{curve.over}-{ending}",
                on_click="ignore",
                type="tertiary",
                icon=":material/download:",
            )


def _alt(curve: QualityCurve) -> str:
    return f"Loss in {METRICS[curve.metric]} at {len(curve.points)} numbers of {curve.over}"


def _fetching(curve: QualityCurve, costs: FeatureCosts | None) -> str:
    if costs is None:
        return NOT_KNOWN
    unknown = costs.unknown(curve.order)
    told = f"Not in the file, so their fetch time is unknown: {', '.join(unknown)}." if unknown else ""
    return told or "Every feature is in the file. Groups that no feature needs any more are saved, one after another."


def _file(ending: str, curve: QualityCurve, costs: FeatureCosts | None) -> bytes:
    write = {
        "csv": export_table.to_csv, "json": export_table.to_json, "xlsx": export_table.to_xlsx,
        "md": export_table.to_markdown,
    }[ending]  # fmt: skip
    return write(curve_records(curve, costs))


def _table(curve: QualityCurve, costs: FeatureCosts | None) -> pd.DataFrame:
    unit = "%" if curve.relative else "points"
    rows = []
    for point in reversed(curve.points):
        row = {
            curve.over.capitalize(): f"{point.size:,}",
            metric_name(curve.metric): numbers.quality(point.value, curve.metric),
            f"Lost, {unit}": _percent(point.drop.value if point.drop else None),
            "Could be": _between(point.drop),
        }
        if costs is not None:
            saved = costs.saved(curve.order[: point.size], curve.order)
            row |= {"Fetch time saved": numbers.latency(saved.ms), "Price saved": numbers.significant(saved.price)}
        if curve.over == "features":
            row["Last one in"] = plain(curve.order[point.size - 1], 40)
        rows.append(row | {"": ", ".join(marks(curve, point))})
    return pd.DataFrame(rows)


def _percent(value: float | None) -> str:
    return numbers.MISSING if value is None else numbers.signed(value * 100, 2).lstrip("+")


def _between(drop: Interval | None) -> str:
    if drop is None or drop.low is None or drop.high is None:
        return numbers.MISSING
    return numbers.between(_percent(drop.low), _percent(drop.high))


def _figure(curve: QualityCurve) -> go.Figure:
    """Change of the metric up, sizes across on a logarithmic axis; the band drawn as one closed line."""
    known = [point for point in curve.points if point.drop is not None]
    sizes = [point.size for point in known]
    lost = [100 * point.drop.value for point in known if point.drop]
    figure = go.Figure()
    figure.add_trace(_band(known))
    figure.add_trace(
        go.Scatter(
            x=sizes, y=lost, mode="lines+markers", line={"color": charts.CATEGORY[0], "width": 2.5},
            marker={"size": 7, "color": charts.CATEGORY[0]}, customdata=[_between(point.drop) for point in known],
            hovertemplate=f"%{{x:,}} {curve.over}: %{{y:.2f}} lost (%{{customdata}})<extra></extra>",
        )
    )  # fmt: skip
    unit = "%" if curve.relative else "points"
    charts.frame(figure, 300, x=f"Number of {curve.over}", y=f"Lost in {METRICS[curve.metric]}, {unit}", top=34)
    ends = (math.log10(sizes[0]) - 0.03, math.log10(sizes[-1]) + 0.03)
    figure.update_xaxes(type="log", range=ends, tickvals=_ticks(sizes), ticktext=[f"{n:,}" for n in _ticks(sizes)])
    top = max([*lost, 100 * curve.max_drop])
    low = min([0.0, *lost])
    figure.update_yaxes(range=(low - 0.08 * (top - low), top + 0.12 * (top - low)), nticks=6)
    limit = 100 * curve.max_drop
    charts.line(figure, x=(sizes[0], sizes[-1]), y=(limit, limit), color=charts.WORSE, dash="dash")
    allowed = for_chart(f"allowed: {numbers.loss_amount(curve.max_drop, relative=curve.relative)}")
    charts.note(figure, ends[1], limit, allowed, xanchor="right")
    if curve.flattens_at in sizes and curve.flattens_at != sizes[-1]:
        _mark(figure, curve.flattens_at, lost[sizes.index(curve.flattens_at)], top, sizes[-1])
    return figure


def _band(known: Sequence[CurvePoint]) -> go.Scatter:
    both = [(p.size, p.drop.low * 100, p.drop.high * 100) for p in known if p.drop and p.drop.low is not None
            and p.drop.high is not None]  # fmt: skip
    there, back = [(x, high) for x, _, high in both], [(x, low) for x, low, _ in reversed(both)]
    return go.Scatter(
        x=[x for x, _ in there + back], y=[y for _, y in there + back], mode="lines", fill="toself",
        line={"width": 0, "color": charts.CATEGORY[0]}, opacity=0.25, hoverinfo="skip",
    )  # fmt: skip


def _mark(figure: go.Figure, size: int, lost: float, top: float, largest: int) -> None:
    charts.line(figure, x=(size, size), y=(lost, top), color=charts.MUTED, dash="dot")
    figure.add_trace(
        go.Scatter(
            x=[size], y=[lost], mode="markers", hoverinfo="skip",
            marker={"size": 13, "symbol": "diamond", "color": charts.MUTED},
        )
    )  # fmt: skip
    near_end = math.log10(largest / size) < 0.5  # there is no room on the right
    side = {"xanchor": "right" if near_end else "left", "xshift": -4 if near_end else 4}
    charts.note(figure, math.log10(size), top, f"flattens at {size:,}", yanchor="top", **side)


def _ticks(sizes: Sequence[int]) -> list[int]:
    """The sizes that can be labelled without touching, from the largest down."""
    kept: list[int] = []
    least = math.log10(sizes[-1] / sizes[0]) / DENSE if sizes[-1] > sizes[0] else 0.0
    for size in sorted(sizes, reverse=True):
        if not kept or math.log10(kept[-1] / size) >= least:
            kept.append(size)
    return kept
