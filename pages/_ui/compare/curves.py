"""How the chosen variants take to larger batches: call time and items per second, drawn over each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from engine.records import Experiment, Interval, Measurement
from pages._ui import loaders
from pages._ui.charts import CATEGORY, MUTED, finished, frame, log_ticks, notes, show, written
from pages._ui.compare.data import Compared, whole
from pages._ui.compare.variants import Variant
from pages._ui.explanations import about
from pages._ui.parts import card_title
from pages._ui.text import both_ends, for_chart

SHAPES = ("circle", "square", "triangle-up", "pentagon", "hexagon", "star", "cross", "triangle-down", "x", "bowtie")
DASHES = ("solid", "dash", "dashdot", "longdash", "longdashdot")
PARTS = (("Time of one call", "ms"), ("Items per second", "items/s"))
LEGEND_FROM = 5  # variants; fewer are named beside their line
LINE_PX, PLOT_PX, NAME = 15, 230, 28
Figure = Callable[[Measurement], Interval]


@dataclass(frozen=True)
class Curve:
    """One variant: its points by batch size, and how they are drawn."""

    name: str
    points: tuple[tuple[int, Interval], ...]
    colour: str
    shape: str
    dash: str


def curves_card(looked: Compared, chosen: Sequence[Variant], seen: loaders.Seen) -> bool:
    """chosen: the variants that are looked at closely. False: none of them was timed at more than one batch size."""
    named, threads = tuple((one.id, one.short) for one in chosen), looked.study.workload.threads
    figures = drawn_curves(named, threads, seen)
    if not figures:
        return False
    with st.container(border=True, key="cm-curves-card", gap="small"):
        card_title("Batch size", help=about("batch size"))
        with st.grid(2, min_column_width=360):
            for (title, _), figure in zip(PARTS, figures, strict=True):
                with st.container(gap="xsmall"):
                    st.markdown(f"**{title}**")
                    alt = f"{title} of {len(figure.data) - 1} variants and the original by items per call"
                    show(figure, f"cm-curves-{title.split()[0].lower()}", alt)
        st.caption("Both axes are logarithmic: where a line is level, more items cost nothing. Bars are 95% intervals.")
    return True


@st.cache_resource(show_spinner=False, max_entries=16)
def drawn_curves(named: tuple[tuple[str, str], ...], threads: int, seen: loaders.Seen) -> list[go.Figure]:
    """Built once for a choice of variants: times and rates; nothing where only one batch size was timed."""
    runs, names = whole(tuple(key for key, _ in named), seen), dict(named)
    times = curves(runs, names, threads, lambda one: one.p50_ms)
    rates = curves(runs, names, threads, lambda one: one.items_per_s_interval or Interval(value=one.items_per_s))
    if not any(len(curve.points) > 1 for curve in times[1:]):
        return []
    return [finished(overlaid(found, unit)) for found, (_, unit) in zip((times, rates), PARTS, strict=True)]


def curves(runs: Sequence[Experiment], names: dict[str, str], threads: int, figure: Figure) -> list[Curve]:
    """The original first, from the run that was timed beside it at most batch sizes."""
    beside = max((run.baselines for run in runs), key=lambda arm: len(_points(arm, threads, figure)), default=())
    found = [Curve("Original", _points(beside, threads, figure), MUTED, "diamond", "dot")]
    for at, run in enumerate(runs):
        if points := _points(run.measurements, threads, figure):
            colour, shape = CATEGORY[at % 9], SHAPES[at % len(SHAPES)]
            found.append(Curve(names[run.id], points, colour, shape, DASHES[at // 5 % len(DASHES)]))
    return found


def overlaid(found: Sequence[Curve], unit: str) -> go.Figure:
    """Lines with intervals over a doubling axis; named at their end, or in a legend when they are many."""
    figure = go.Figure([_trace(curve) for curve in found])
    few = len(found) <= LEGEND_FROM
    frame(figure, 320 if few else 400, x="Items per call", y=unit, top=34)
    sizes = sorted({size for curve in found for size, _ in curve.points})
    room = 0.6 if few else 0.08
    figure.update_xaxes(
        type="log", tickvals=sizes, ticktext=[f"{size:,}" for size in sizes], tickangle=0,
        range=(log10(sizes[0]) - 0.08, log10(sizes[-1]) + room * max(1.0, log10(sizes[-1]) - log10(sizes[0]))),
    )  # fmt: skip
    values = [
        value for curve in found for _, one in curve.points for value in (one.low or one.value, one.high or one.value)
    ]
    low, high = log10(min(values)), log10(max(values))
    span = (low - 0.06 * (high - low) - 0.02, high + 0.06 * (high - low) + 0.02)
    ticks = log_ticks(10 ** span[0], 10 ** span[1])
    figure.update_yaxes(type="log", range=span, tickvals=ticks, ticktext=[f"{tick:,g}" for tick in ticks])
    if few:
        notes(figure, _names(found, span))
    else:
        figure.update_layout(
            showlegend=True,
            legend={"orientation": "h", "y": -0.25, "x": 0, "yanchor": "top", "font": {"color": MUTED, "size": 12}},
        )
    return figure


def _points(measured: Sequence[Measurement], threads: int, figure: Figure) -> tuple[tuple[int, Interval], ...]:
    found = [(one.workload.batch_size, figure(one)) for one in measured if one.workload.threads == threads]
    return tuple(sorted(found, key=lambda point: point[0]))


def _trace(curve: Curve) -> go.Scatter:
    values = [one.value for _, one in curve.points]
    name = for_chart(both_ends(curve.name, NAME))
    return go.Scatter(
        x=[size for size, _ in curve.points],
        y=values,
        name=name,
        mode="lines+markers",
        line={"color": curve.colour, "width": 1.6, "dash": curve.dash},
        marker={"color": curve.colour, "size": 8, "symbol": curve.shape},
        error_y={
            "type": "data", "symmetric": False, "thickness": 1.2, "width": 3, "color": curve.colour,
            "array": [max(0.0, (one.high or one.value) - one.value) for _, one in curve.points],
            "arrayminus": [max(0.0, one.value - (one.low or one.value)) for _, one in curve.points],
        },
        hovertemplate=f"{name}, %{{x}} per call: %{{y:.3g}}<extra></extra>",
    )  # fmt: skip


def _names(found: Sequence[Curve], span: tuple[float, float]) -> list[dict[str, Any]]:
    """Right of the last point of each line, moved apart where they would touch."""
    ends = [(curve, curve.points[-1]) for curve in found if curve.points]
    ends.sort(key=lambda end: end[1][1].value)
    scale = PLOT_PX / (span[1] - span[0])
    heights = spread([(log10(point[1].value) - span[0]) * scale for _, point in ends], LINE_PX)
    texts = []
    for (curve, (size, value)), height in zip(ends, heights, strict=True):
        shift = height - (log10(value.value) - span[0]) * scale
        text = for_chart(both_ends(curve.name, NAME))
        texts.append(written(log10(size), log10(value.value), text, yanchor="middle", xshift=10, yshift=shift))
    return texts


def spread(heights: Sequence[float], least: float) -> list[float]:
    """Ascending heights, moved as little as needed to lie `least` apart."""
    found = list(heights)
    for _ in range(50):
        moved = False
        for at in range(1, len(found)):
            gap = found[at] - found[at - 1]
            if gap < least - 0.5:
                found[at - 1] -= (least - gap) / 2
                found[at] += (least - gap) / 2
                moved = True
        if not moved:
            break
    return found
