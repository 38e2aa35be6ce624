"""Slices × variants. Stepped, not continuous: every tint has a meaning, every text on its tint is readable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from engine.records import SliceQuality
from pages._ui.charts import DIVERGING, INK, MUTED, PAGE, PANEL, frame, notes, written
from pages._ui.text import both_ends, for_chart

# breaks the limit · more than half of the limit · within · better
STEPS = (DIVERGING[0], DIVERGING[3], PANEL, DIVERGING[6])
ROW_PX = 32
ASIDE = (-0.34, 0.0, 0.34)  # of a cell's width
BETWEEN = "\x1f"
MINUS = "\u2212"


def slice_map(variants: Sequence[tuple[str, Sequence[SliceQuality]]], limit: float, unit: float) -> go.Figure:
    """variants: (name, its slices). limit: largest drop allowed. unit: what a drop is multiplied by for the screen."""
    columns = [name for name, _ in variants]
    rows = list(dict.fromkeys((cell.column, cell.value) for _, cells in variants for cell in cells))
    sizes = {(cell.column, cell.value): cell.n_rows for _, cells in variants for cell in cells}
    tints: list[list[int | None]] = [[None] * len(columns) for _ in rows]
    hover = [[""] * len(columns) for _ in rows]
    texts, hatched = [], []
    places = {place: i for i, place in enumerate(rows)}
    for j, (name, cells) in enumerate(variants):
        for cell in cells:
            i = places[cell.column, cell.value]
            tints[i][j] = _step(cell, limit)
            hover[i][j] = _hover(name, cell, unit)
            texts.append(_text(i, j, cell, tints[i][j], unit))
            if tints[i][j] is None:
                hatched.append((i, j))
    n_steps = len(STEPS)
    scale = [[edge, colour] for k, colour in enumerate(STEPS) for edge in (k / n_steps, (k + 1) / n_steps)]
    heat = go.Heatmap(
        z=tints,
        x=list(range(len(columns))),
        y=list(range(len(rows))),
        zmin=-0.5,
        zmax=n_steps - 0.5,
        colorscale=scale,
        xgap=3,
        ygap=3,
        hoverinfo="skip",
        showscale=False,
    )
    figure = go.Figure([heat, _hatch(hatched), _targets(rows, hover)])
    frame(figure, 68 + ROW_PX * len(rows), top=60)
    notes(figure, texts)
    tick = {"color": MUTED, "size": 12}
    figure.update_xaxes(
        tickvals=list(range(len(columns))),
        ticktext=[_wrapped(name, 16 if len(columns) <= 6 else 11) for name in columns],
        side="top",
        tickangle=0,
        showgrid=False,
        tickfont=tick,
        range=[-0.5, len(columns) - 0.5],
    )
    names = [f"{slice_name(c, v)}  <span style='font-size:11px'>n {sizes[c, v]:,}</span>" for c, v in rows]
    figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=names, range=[len(rows) - 0.5, -0.5], showgrid=False, tickfont=tick
    )
    return figure


def _targets(rows: Sequence[tuple[str, str]], hover: Sequence[Sequence[str]]) -> go.Scatter:
    """Invisible marks that are hovered and clicked instead of the tints, which cannot be; customdata is the row."""
    spots = [
        (j + aside, i, text) for i, line in enumerate(hover) for j, text in enumerate(line) if text for aside in ASIDE
    ]
    return go.Scatter(
        x=np.array([x for x, _, _ in spots]),
        y=np.array([i for _, i, _ in spots]),
        mode="markers",
        marker={"size": ROW_PX, "symbol": "square", "opacity": 0},
        customdata=np.array([key_of(*rows[i]) for _, i, _ in spots], object),
        text=np.array([text for _, _, text in spots], object),
        hovertemplate="%{text}<extra></extra>",
    )


def key_of(column: str, value: str) -> str:
    """One text for a slice."""
    return f"{column}{BETWEEN}{value}"


def _step(cell: SliceQuality, limit: float) -> int | None:
    if cell.drop is None or cell.verdict == "too few rows":
        return None
    if cell.verdict in ("outside", "fail"):
        return 0
    if cell.drop > limit / 2:
        return 1
    return 3 if cell.drop < -limit / 2 else 2


def _text(i: int, j: int, cell: SliceQuality, step: int | None, unit: float) -> dict[str, Any]:
    if step is None:
        text, colour = "too few" if cell.verdict == "too few rows" else "–", MUTED
    else:
        text = change_text(cell.drop, unit)
        text, colour = (f"<b>✕ {text}</b>", PAGE) if step == 0 else (text, MUTED if step == 2 else INK)
    back = PAGE if step is None else None
    return written(j, i, text, color=colour, bgcolor=back, borderpad=1, xanchor="center", yanchor="middle")


def slice_name(column: str, value: str) -> str:
    """'region: north', safe for a figure; all rows have no value."""
    return for_chart(f"{column}: {value}" if value else column, 40)


def change_text(drop: float | None, unit: float) -> str:
    """A drop as the change a reader expects: a loss has a minus."""
    if drop is None:
        return "–"
    text = f"{abs(drop * unit):.2f}"
    return text if float(text) == 0 else (MINUS if drop > 0 else "+") + text


def _hatch(places: Sequence[tuple[int, int]]) -> go.Scatter:
    """All hatched cells as one trace; None parts them."""
    across = [x for _, j in places for x in (j - 0.47, j + 0.47, j + 0.47, j - 0.47, j - 0.47, None)]
    down = [y for i, _ in places for y in (i - 0.44, i - 0.44, i + 0.44, i + 0.44, i - 0.44, None)]
    return go.Scatter(
        x=across,
        y=down,
        fill="toself",
        mode="lines",
        line={"width": 0},
        fillcolor="rgba(0,0,0,0)",
        fillpattern={"shape": "/", "size": 6, "solidity": 0.12, "fgcolor": MUTED, "bgcolor": "rgba(0,0,0,0)"},
        hoverinfo="skip",
    )


def _hover(name: str, cell: SliceQuality, unit: float) -> str:
    lines = [f"<b>{slice_name(cell.column, cell.value)}</b> · {for_chart(name)}", f"n {cell.n_rows:,}"]
    if cell.drop is not None:
        lines.append(f"change {change_text(cell.drop, unit)}")
    if cell.bound is not None:
        lines.append(f"may be as bad as {change_text(cell.bound, unit)}")
    lines.append(for_chart(cell.reason or cell.verdict, 120))
    return "<br>".join(lines)


def _wrapped(name: str, width: int, n_lines: int = 3) -> str:
    lines = [""]
    for word in both_ends(name, width * n_lines - 4).split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    if len(lines) > n_lines:
        lines = [*lines[: n_lines - 1], lines[n_lines - 1] + " …"]
    return "<br>".join(for_chart(part, width + 8) for part in lines)
