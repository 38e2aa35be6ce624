"""Figures of how the times of single calls spread: a histogram and the cumulative share, both arms over one axis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from engine.measurement.statistics import QUANTILES, percentile
from pages._ui.charts import CATEGORY, MUTED, frame, line, note

N_POINTS, LABEL_AT, N_BINS = 400, 0.3, 60
STYLE = {"baseline": ("original", MUTED, "dot", "diamond"), "variant": ("this run", CATEGORY[0], "solid", "circle")}
WIDE = 20.0  # times from the fastest to the slowest call, from which on the axis is logarithmic
FURTHEST = 0.999  # quantile of the slower arm at which the axis ends
Times = Mapping[str, np.ndarray]  # arm -> (n,) sorted times of its calls, ms


def histogram(arms: Times) -> go.Figure:
    """Share of calls per bin of time, both arms as outlines over the same bins, their percentiles as lines."""
    figure = go.Figure()
    low, high, wide = _span(arms)
    edges = np.geomspace(low, high, N_BINS + 1) if wide else np.linspace(low, high, N_BINS + 1)
    top = 0.0
    for arm, times in arms.items():
        name, colour, dash, _ = STYLE[arm]
        shares = np.histogram(times, edges)[0] / len(times) * 100
        top = max(top, float(shares.max()))
        figure.add_trace(
            go.Scatter(
                x=edges,
                y=[*shares, 0.0],
                mode="lines",
                name=name,
                line={"color": colour, "width": 1.5, "dash": dash, "shape": "hv"},
                fill="tozeroy" if arm == "variant" else None,
                hovertemplate=f"{name}: %{{y:.1f}}% of the calls from %{{x:.3g}} ms<extra></extra>",
            )
        )
    frame(figure, 300, x="Time of one call, ms", y="Calls, %", top=34)
    for arm, times in arms.items():
        for q, at in _marks(times).items():
            line(figure, x=(at, at), y=(0, top * 1.04), color=STYLE[arm][1], dash="solid" if q == 0.5 else "dot")
        x = float(np.median(times))
        place = {"xanchor": _sides(arms)[arm], "yanchor": "bottom", "xshift": 0}
        note(figure, np.log10(x) if wide else x, top * 1.05, f"{STYLE[arm][0]} p50", **place)
    _time_axis(figure, low, high, wide)
    figure.update_yaxes(range=[0, top * 1.2], nticks=5)
    return figure


def spread_chart(arms: Times) -> go.Figure:
    """Cumulative share of calls by time, thinned to N_POINTS, with the percentiles as marks."""
    figure = go.Figure()
    shares = np.linspace(0, 1, N_POINTS)
    for arm, times in arms.items():
        name, colour, dash, symbol = STYLE[arm]
        figure.add_trace(
            go.Scatter(
                x=np.quantile(times, shares, method="inverted_cdf"),
                y=shares * 100,
                mode="lines",
                name=name,
                line={"color": colour, "width": 2, "dash": dash, "shape": "hv"},
                hovertemplate=f"{name}: %{{y:.1f}}% of the calls took at most %{{x:.3g}} ms<extra></extra>",
            )
        )
        marks = _marks(times)
        figure.add_trace(
            go.Scatter(
                x=list(marks.values()),
                y=[q * 100 for q in marks],
                mode="markers",
                name=f"{name}, percentiles",
                marker={"color": colour, "symbol": symbol, "size": 9},
                hovertemplate=f"{name}, p%{{y:g}}: %{{x:.3g}} ms<extra></extra>",
            )
        )
    low, high, wide = _span(arms)
    frame(figure, 300, x="Time of one call, ms", y="Calls that took at most so long, %", top=34)
    for level in (50, 95, 99):
        line(figure, x=(low, high), y=(level, level), color=MUTED, dash="dot")
    for arm, side in _sides(arms).items():
        x = float(np.quantile(arms[arm], LABEL_AT))
        shift = -6 if side == "right" else 6
        note(figure, np.log10(x) if wide else x, LABEL_AT * 100, STYLE[arm][0], xanchor=side, xshift=shift, yshift=-8)
    _time_axis(figure, low, high, wide)
    figure.update_yaxes(range=[0, 101], tickvals=[0, 25, 50, 75, 99])
    return figure


def _marks(times: np.ndarray) -> dict[float, float]:
    """Quantile -> its time, as far as there are calls enough."""
    found = {q: percentile(times, q) for q in QUANTILES}
    return {q: one.value for q, one in found.items() if one is not None}


def _span(arms: Times) -> tuple[float, float, bool]:
    """Both ends of the time axis, and whether it is logarithmic."""
    low = min(float(times[0]) for times in arms.values())
    high = max(float(np.quantile(times, FURTHEST)) for times in arms.values())
    high = high if high > low else low * 1.01
    return low, high, high / low > WIDE


def _time_axis(figure: go.Figure, low: float, high: float, wide: bool) -> None:
    if not wide:
        room = 0.03 * (high - low)
        figure.update_xaxes(type="linear", range=[low - room, high + room], nticks=7)
        return
    steps = [step * 10.0**power for power in range(-4, 6) for step in (1, 2, 5)]
    ticks = [tick for tick in steps if low <= tick <= high]
    figure.update_xaxes(
        type="log", range=np.log10([low * 0.9, high * 1.1]), tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks]
    )


def _sides(arms: Times) -> dict[str, str]:
    """The name of the faster arm ends left of its line, that of the slower begins right of it."""
    ordered = sorted(arms, key=lambda arm: float(np.quantile(arms[arm], LABEL_AT)))
    return {arm: "right" if arm == ordered[0] and len(ordered) > 1 else "left" for arm in ordered}
