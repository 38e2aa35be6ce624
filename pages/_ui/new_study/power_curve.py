"""How many certification rows it takes for which band, as a curve with one's own rows and band on it."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from engine.quality.capability import certificate_alpha
from engine.quality.power import rows_to_decide
from engine.records import Band
from engine.reports import numbers
from pages._ui import charts

N_POINTS = 60
SMALLEST_POINTS, LARGEST_POINTS = 0.1, 10.0


def power_curve(band: Band, n_rows: int, rarer_fraction: float, changed: float, *, key: str) -> None:
    """Bands across, rows up, both as powers of ten; right of and above the curve a certificate is likely."""
    assert band.metric is not None
    limit = band.max_drop * 100
    low, high = min(SMALLEST_POINTS, limit or 1), max(LARGEST_POINTS, limit)
    bands = np.geomspace(low, high, N_POINTS)
    alpha = certificate_alpha(band)
    needed = [
        rows_to_decide(band.metric, points / 100, alpha, changed=changed, rarer_fraction=rarer_fraction)
        for points in bands
    ]
    figure = go.Figure(
        go.Scatter(
            x=bands, y=needed, mode="lines", line={"color": charts.CATEGORY[0], "width": 2.5},
            hovertemplate="a band of %{x:.2f} points<br>needs %{y:,.0f} rows<extra></extra>",
        )
    )  # fmt: skip
    charts.frame(figure, 260, x="Band, points", y="Certification rows", top=34)
    figure.update_xaxes(type="log", tickvals=[0.1, 0.2, 0.5, 1, 2, 5, 10], range=[np.log10(low), np.log10(high)])
    figure.update_yaxes(type="log", dtick=1, tickformat=",d")
    charts.line(figure, x=(low, high), y=(n_rows, n_rows), color=charts.MUTED, dash="dot")
    charts.note(figure, np.log10(high), np.log10(n_rows), f"your {n_rows:,} rows", xanchor="right")
    if limit > 0:
        known = [value for value in needed if value]
        charts.line(figure, x=(limit, limit), y=(min(known), max(known)), color=charts.WORSE, dash="dash")
        charts.note(
            figure,
            np.log10(limit),
            np.log10(max(known)),
            f" your band, {numbers.loss_amount(band.max_drop, relative=False)}",
            yanchor="top",
        )
    charts.show(figure, key, f"Certification rows needed for bands from {low:g} to {high:g} points")
    st.caption(
        "Above the curve, a variant that loses nothing is certified four times out of five. Half the band takes up to "
        "four times the rows."
    )
