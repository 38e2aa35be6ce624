"""The speed-up of every process pair: the numbers behind a verdict, one mark each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import streamlit as st

from engine.measurement.statistics import BAND, Ratio
from engine.records import Comparison
from pages._ui.charts import CATEGORY, MUTED, PANEL, frame, line, note, show
from pages._ui.experiment.raw_calls import ARMS, Calls, speedups
from pages._ui.explanations import about
from pages._ui.parts import card_title

ROOM = 0.12  # of the span of the values, above and below


def pair_ratios(arms: Mapping[str, Calls], compared: Sequence[Comparison]) -> None:
    """Draws nothing for a run that was timed alone."""
    if not compared or any(arm not in arms for arm in ARMS):
        return
    with st.container(gap="xsmall"):
        card_title("Speed-up, pair by pair", help=about("pairs"))
        chosen = compared[0]
        if len(compared) > 1:
            chosen = st.selectbox(
                "Of the calls", compared, format_func=quantity, key="ex-pairs-of", width=240, help=about("pairs")
            )
        values, found = speedups(dict(arms), chosen)
        said = reading(values, found, chosen)
        show(pair_chart(values, found), "ex-pairs", said)
        st.caption(
            f"{said} A mark is one pair of fresh processes, the line their mean, the band its 95% interval. Pairs that "
            "lie together make a narrow band."
        )


def quantity(one: Comparison) -> str:
    """'p99', 'mean', 'p99 of processor time'."""
    text = "mean" if one.quantile is None else f"p{one.quantile * 100:g}"
    return f"{text} of processor time" if one.clock == "cpu" else text


def reading(values: Mapping[int, float], found: Ratio | None, compared: Comparison) -> str:
    """The verdict and how far the pairs lie apart, in a sentence."""
    low, high = min(values.values()), max(values.values())
    text = f"{len(values)} pairs, from {low:.2f}× to {high:.2f}×"
    if found is not None:
        text += f"; together {1 / found.value:.2f}× ({1 / found.high:.2f} to {1 / found.low:.2f})"
    return f"{text}: {compared.verdict}."


def pair_chart(values: Mapping[int, float], found: Ratio | None) -> go.Figure:
    """Speed-up by number of the pair, the mean with its interval, and the band of no difference where it is near."""
    pairs, heights = [pair + 1 for pair in values], list(values.values())
    ends = [*heights, *([1 / found.low, 1 / found.high] if found else [])]
    low, high = min(ends), max(ends)
    if low < 1 + 2 * BAND and high > 1 - 2 * BAND:
        low, high = min(low, 1 / (1 + BAND)), max(high, 1 + BAND)
    room = max(ROOM * (high - low), 0.005 * high)
    figure = go.Figure()
    frame(figure, 240, x="Process pair", y="Speed-up, times", top=34)
    left, right = min(pairs) - 0.6, max(pairs) + 0.6
    if low - room < 1 < high + room:
        _band(figure, (left, right), (1 / (1 + BAND), 1 + BAND), PANEL)
        note(figure, right, 1 + BAND, "no difference", xanchor="right", yanchor="bottom")
    if found is not None:
        _band(figure, (left, right), (1 / found.high, 1 / found.low), CATEGORY[0], opacity=0.14)
        line(figure, x=(left, right), y=(1 / found.value, 1 / found.value), color=CATEGORY[0], dash="solid")
    line(figure, x=(left, right), y=(1.0, 1.0), color=MUTED, dash="dot")
    figure.add_trace(
        go.Scatter(
            x=pairs, y=heights, mode="markers", marker={"color": CATEGORY[0], "size": 9},
            hovertemplate="pair %{x}: %{y:.3f}×<extra></extra>",
        )
    )  # fmt: skip
    figure.update_xaxes(range=[left, right], tickvals=pairs if len(pairs) <= 20 else None, showgrid=False)
    figure.update_yaxes(range=[low - room, high + room], nticks=6, ticksuffix="×")
    return figure


def _band(
    figure: go.Figure, x: tuple[float, float], y: tuple[float, float], colour: str, *, opacity: float = 1.0
) -> None:
    figure.add_shape(
        type="rect", x0=x[0], x1=x[1], y0=y[0], y1=y[1], line={"width": 0}, fillcolor=colour, opacity=opacity,
        layer="below",
    )  # fmt: skip
