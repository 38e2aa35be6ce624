"""Cost against traffic, and replicas over the day."""

from __future__ import annotations

import math
from collections.abc import Collection

import plotly.graph_objects as go

from engine.planning.cost import MONTH_H, hourly_cost
from engine.records.planning import CostPlan
from engine.reports import numbers
from pages._ui.charts import CATEGORY, MUTED, PAGE, frame, line, note
from pages._ui.plan.prefill import ORIGINAL
from pages._ui.text import both_ends, for_chart

DASHES = ("solid", "7px 3px", "2px 2px", "9px 3px 2px 3px", "12px 4px")
N_POINTS = 600
LAKH = 1e5
MOST_NAMED = 5
NAME = 26


def cost_curve(plan: CostPlan) -> go.Figure:
    """Stepped lines of the monthly cost by peak; the grey band follows the cheapest, points stand at the peak."""
    peak, even = plan.demand.peak_per_s, plan.break_even_peak
    most = max(2.2 * peak, 1.6 * (even or 0) if (even or 0) < 20 * peak else 0)
    peaks = [most * k / N_POINTS for k in range(1, N_POINTS + 1)]
    symbol = numbers.SYMBOLS.get(plan.currency, plan.currency + " ")
    lakh = symbol == "₹" and plan.cheapest.cost_per_month * most / peak >= LAKH
    factor = MONTH_H / (LAKH if lakh else 1)
    curves = {
        one.machine.name: [cost * factor for cost in hourly_cost(one.machine, peaks, plan.reserve)]
        for one in plan.fleets
    }
    cheapest = [min(costs) for costs in zip(*curves.values(), strict=True)]
    top = 1.2 * min(max(max(costs) for costs in curves.values()), 4 * max(cheapest))
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(x=peaks, y=cheapest, mode="lines", line={"shape": "hv", "width": 11, "color": MUTED}, opacity=0.22,
                   hoverinfo="skip")
    )  # fmt: skip
    for at, (name, costs) in enumerate(curves.items()):
        _stepped(figure, at, name, peaks, costs, f"{symbol}%{{y:,.3~f}}{' lakh' if lakh else ''} a month")
    line(figure, x=(peak, peak), y=(0, top), color=MUTED, dash="solid")
    note(figure, peak, top, f"<b>Your peak: {peak:,.6g}</b> ", xanchor="right", yanchor="top")
    if even is not None and even <= most:
        line(figure, x=(even, even), y=(0, top), color=MUTED, dash="dash")
        note(figure, even, top, f" Break-even: {even:,}", yanchor="top")
    for at, fleet in enumerate(plan.fleets):
        _at_peak(figure, at, fleet.machine.name, peak, fleet.cost_per_month * factor / MONTH_H, top,
                 numbers.money(fleet.cost_per_month, plan.currency))  # fmt: skip
    unit = f"Cost a month, {symbol.strip()}{numbers.SPACE + 'lakh' if lakh else ''}"
    frame(figure, 400, x="Peak traffic, requests/s", y=unit, top=34)
    figure.update_xaxes(range=[0, most * _room(curves)])
    figure.update_yaxes(range=[0, top])
    if len(curves) > MOST_NAMED:
        figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.2})
    return figure


def replica_day(plan: CostPlan) -> go.Figure:
    """Replicas by part of the day, stepped; dotted: as many as the busiest part needs, all day."""
    figure = go.Figure()
    hours = 24 / len(plan.demand.day_per_s)
    top = 1.15 * max(max(day.replicas) for day in plan.day)
    for at, day in enumerate(plan.day):
        x = [hours * k for k in range(len(day.replicas) + 1)]
        _stepped(figure, at, day.machine, x, [*day.replicas, day.replicas[-1]], "%{y} replicas")
        line(figure, x=(0, 24), y=(max(day.replicas),) * 2, color=MUTED, dash="dot")
    frame(figure, 300, x="Hour of the day", y="Replicas", top=34)
    figure.update_xaxes(range=[0, 24 * _room([day.machine for day in plan.day])], tickvals=[0, 6, 12, 18, 24])
    figure.update_yaxes(range=[0, top], dtick=max(1, math.ceil(top / 8)))
    if len(plan.day) > MOST_NAMED:
        figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.2})
    return figure


def _room(names: Collection[str]) -> float:
    """How much longer the axis is than the lines, for the names at their end."""
    return 1.05 + 0.011 * max(min(len(name), NAME) for name in names) if len(names) <= MOST_NAMED else 1.0


def _style(at: int, name: str) -> tuple[str, str]:
    """Colour and dash: the baseline as everywhere."""
    return (MUTED, "dot") if name == ORIGINAL else (CATEGORY[at % 9], DASHES[at % len(DASHES)])


def _stepped(figure: go.Figure, at: int, name: str, x: list[float], y: list[float], hover: str) -> None:
    shown = for_chart(both_ends(name, NAME), NAME)
    colour, dash = _style(at, name)
    figure.add_trace(
        go.Scatter(
            x=x, y=y, mode="lines", name=shown, hovertemplate=f"%{{x:,.4~g}}<br>{shown}: {hover}<extra></extra>",
            line={"shape": "hv", "width": 2.4, "color": colour, "dash": dash},
        )
    )  # fmt: skip
    if at < MOST_NAMED:
        note(figure, x[-1], y[-1], f" <b>{shown}</b>", yanchor="middle")


def _at_peak(figure: go.Figure, at: int, name: str, x: float, y: float, top: float, text: str) -> None:
    """A dot with the price; texts of two dots stand on different sides of the line."""
    if y > top:
        return
    mark = {"size": 11, "color": _style(at, name)[0], "line": {"width": 2, "color": PAGE}}
    figure.add_trace(go.Scatter(x=[x], y=[y], mode="markers", marker=mark, hoverinfo="skip", showlegend=False))
    left = at % 2 == 0
    note(figure, x, y, f"<b>{text}</b>", xanchor="right" if left else "left", xshift=-9 if left else 9, yshift=3)
