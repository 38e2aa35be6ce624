"""Where the time of one call goes: operators before beside after."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine.records import OperatorCost, OperatorProfile
from engine.reports.operators import operator_rows
from pages._ui.charts import CATEGORY, MUTED, frame, show
from pages._ui.explanations import legend
from pages._ui.text import for_chart, plain, sentence

N_BARS = 8
FIGURES = {"Share": "operator_share", "Nodes": "operator_nodes", "Time": "operator_time"}
HEADS = {
    "operator": "Operator",
    "n before": "Nodes, original",
    "time before": "Time, original",
    "share before": "Share, original",
    "n after": "Nodes, this run",
    "time after": "Time, this run",
    "share after": "Share, this run",
}


def operators_line(profile: OperatorProfile) -> str:
    """The reading of the profile, or why there is none."""
    if not profile.before and not profile.after:
        return f"No operator profile: {sentence(profile.reading)}"
    return f"**{sentence(profile.reading)}**"


def operators_details(profile: OperatorProfile) -> None:
    """The shares as bars, then the table."""
    _bars(profile)
    rows = operator_rows(profile)
    st.table(operator_table(rows), border="horizontal", hide_index=True, alt="Operators by time")
    st.caption(
        f"{profile.n_calls:,} profiled calls of {profile.batch_size:,} item{'s' if profile.batch_size > 1 else ''} "
        "each. Profilers slow small operators down: read the shares, not the times."
    )
    legend(FIGURES, key="ex-operators-legend")


def operator_table(rows: list[dict[str, str]]) -> pd.DataFrame:
    """The rows under the heads of the screen, names as text."""
    written = [{HEADS[key]: plain(value, 80) if key == "operator" else value or "–" for key, value in row.items()}
               for row in rows]  # fmt: skip
    return pd.DataFrame(written)


def _bars(profile: OperatorProfile) -> None:
    import plotly.graph_objects as go

    sides = {"original": (profile.before, MUTED), "this run": (profile.after, CATEGORY[0])}
    if not profile.after:
        sides = {"original": (profile.before, MUTED)}
    elif not profile.before:
        sides = {"this run": (profile.after, CATEGORY[0])}
    highest: dict[str, float] = {}
    for costs, _ in sides.values():
        for cost in costs:
            highest[cost.op] = max(highest.get(cost.op, 0.0), cost.share)
    shown = sorted(highest, key=lambda op: -highest[op])[:N_BARS]
    labels = [for_chart(op, 28) for op in shown]
    figure = go.Figure()
    for name, (costs, colour) in reversed(sides.items()):
        shares = [_share(costs, op) * 100 for op in shown]
        figure.add_bar(
            y=labels, x=shares, orientation="h", marker={"color": colour},
            text=[f"{share:.0f}% {name}" if share else "" for share in shares],
            textposition="outside", textfont={"color": MUTED, "size": 12}, cliponaxis=False,
            hovertemplate=f"%{{y}}, {name}: %{{x:.1f}}%<extra></extra>",
        )  # fmt: skip
    frame(figure, 60 + 44 * len(shown), x="Share of the operators' time, %")
    figure.update_layout(barmode="group", bargap=0.28, bargroupgap=0.06)
    figure.update_xaxes(range=[0, min(118, 1.18 * 100 * max(highest.values()) + 8)], nticks=6)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    show(figure, "ex-operators", f"Share of time by operator: {profile.reading}")


def _share(costs: tuple[OperatorCost, ...], op: str) -> float:
    return next((cost.share for cost in costs if cost.op == op), 0.0)
