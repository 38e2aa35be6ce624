"""Reliability diagram: how often answers of each confidence are right, original beside variant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import streamlit as st

from engine.disagreement import on_selection
from engine.errors import WhetstoneError
from engine.quality.reliability import ReliabilityBin, reliability
from engine.records import Experiment
from engine.reports import numbers
from engine.settings import settings
from engine.workspace import Workspace
from pages._ui import loaders
from pages._ui.charts import CATEGORY, MUTED, frame, line, note, show
from pages._ui.explanations import about
from pages._ui.parts import card_title, refusal

Bins = Sequence[ReliabilityBin]
ABOVE = {"xanchor": "left", "yanchor": "bottom", "xshift": 8, "yshift": 8}
BELOW = {"xanchor": "left", "yanchor": "top", "xshift": 4, "yshift": -10}
STYLE = {"original": (MUTED, "diamond", "dot"), "this run": (CATEGORY[0], "circle", "solid")}


def reliability_details(run: Experiment) -> None:
    """The diagram; the answers are read, or computed again, when somebody asks for it."""
    try:
        with st.spinner("Reading the answers"):
            found = _found(run.id)
    except WhetstoneError as error:
        refusal(error)
        return
    if found is None:
        st.caption("These answers have no confidence that could be right or wrong.")
        return
    arms = dict(zip(STYLE, found, strict=True))
    card_title("Confidence against the share that is right", help=about("reliability"))
    show(diagram(arms), "ex-reliability", "; ".join(reading(name, bins) for name, bins in arms.items()))
    st.caption(
        "How to read it: below the diagonal answers are surer than right, above it they are more often right than "
        "sure. Bars are 95% intervals of the share; short bars stand on many rows."
    )


@st.cache_data(show_spinner=False, max_entries=16)
def _found(experiment_id: str) -> tuple[tuple[ReliabilityBin, ...], tuple[ReliabilityBin, ...]] | None:
    """Answers of a finished run never change."""
    ledger = loaders.ledger()
    run = ledger.experiment(experiment_id)
    study = ledger.study(run.spec.study_id)
    before, after, labels, _ = on_selection(run, study, Workspace(settings().home))
    return reliability(before, after, labels, study.signature)


def reading(name: str, bins: Bins) -> str:
    """'original: sure of 91.3% on average and right in 90.8%'."""
    n_rows = sum(one.n_rows for one in bins)
    sure = sum(one.confidence * one.n_rows for one in bins) / n_rows
    right = sum(one.right * one.n_rows for one in bins) / n_rows
    return f"{name}: sure of {numbers.percent(sure, 1)} on average and right in {numbers.percent(right, 1)}"


def diagram(arms: Mapping[str, Bins]) -> go.Figure:
    """Share that is right by confidence, in per cent, with the diagonal."""
    figure = go.Figure()
    low = min(one.low for bins in arms.values() for one in bins) * 100
    frame(figure, 340, x="Confidence of the most likely class, %", y="Right, %", top=34)
    line(figure, x=(low, 100.0), y=(low, 100.0), color=MUTED, dash="dash")
    for name, bins in arms.items():
        figure.add_trace(_trace(name, bins))
        at, place = (bins[0], ABOVE) if name == "original" else (bins[-1], BELOW)  # apart, where both curves are one
        note(figure, at.confidence * 100, at.right * 100, name, **place)
    figure.update_xaxes(range=[low - 2, 102], nticks=7)
    figure.update_yaxes(nticks=6)
    return figure


def _trace(name: str, bins: Bins) -> go.Scatter:
    colour, symbol, dash = STYLE[name]
    return go.Scatter(
        x=[one.confidence * 100 for one in bins],
        y=[one.right * 100 for one in bins],
        mode="lines+markers",
        name=name,
        marker={"color": colour, "symbol": symbol, "size": 9},
        line={"color": colour, "width": 1.5, "dash": dash},
        error_y={
            "type": "data", "symmetric": False, "color": colour, "thickness": 1.2, "width": 4,
            "array": [(one.right_high - one.right) * 100 for one in bins],
            "arrayminus": [(one.right - one.right_low) * 100 for one in bins],
        },
        text=[f"{one.n_rows:,}" for one in bins],
        hovertemplate=f"{name}: sure of %{{x:.1f}}%, right in %{{y:.1f}}% of %{{text}} rows<extra></extra>",
    )  # fmt: skip
