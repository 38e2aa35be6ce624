"""Speed against quality: one mark per variant, both intervals, the goal and the band as lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

import plotly.graph_objects as go

from pages._ui.charts import BETTER, BETTER_TEXT, CATEGORY, MUTED, WORSE, frame, line, note
from pages._ui.text import for_chart

FAMILY = {  # first lever's family -> (shape, colour); shape and colour say the same
    "baseline": ("diamond", MUTED),
    "runtime": ("circle", CATEGORY[0]),
    "export": ("circle", CATEGORY[0]),
    "quantisation": ("square", CATEGORY[2]),
    "pruning": ("triangle-up", CATEGORY[1]),
    "distillation": ("pentagon", CATEGORY[4]),
}
TICKS = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100, 200, 500, 1000)
WIDTH_PX, HEIGHT_PX, LETTER_PX, LINE_PX = 900, 340, 6.4, 16
PLACES = (  # (xanchor, yanchor, x shift, y shift), best first
    ("left", "bottom", 8, 5),
    ("right", "bottom", -8, 5),
    ("left", "top", 8, -5),
    ("right", "top", -8, -5),
    ("center", "bottom", 0, 14),
    ("center", "top", 0, -14),
    ("left", "bottom", 8, 24),
    ("left", "top", 8, -24),
)


@dataclass(frozen=True)
class Mark:
    """One variant: speed-up with interval, quality change (positive is better) with its lower bound."""

    name: str
    family: str
    speedup: float
    low: float | None
    high: float | None
    change: float
    change_low: float | None
    outcome: str
    strong: bool


def speed_against_quality(
    marks: Sequence[Mark], *, goal: float | None, band: float | None, x_title: str, y_title: str
) -> go.Figure:
    """The baseline stands at 1× and 0; right is faster, up is better. `goal`, `band`: a factor and a largest drop."""
    figure = go.Figure()
    left, right, bottom, top = _ranges(marks, goal, band)
    _reference_lines(figure, (left, right), (bottom, top), goal, band)
    for mark in marks:
        figure.add_trace(_trace(mark))
    for mark, (xanchor, yanchor, dx, dy) in zip(marks, _placed(marks, (left, right), (bottom, top)), strict=True):
        text = for_chart(mark.name, 34)
        note(
            figure, log10(mark.speedup), mark.change, f"<b>{text}</b>" if mark.strong else text,
            xanchor=xanchor, yanchor=yanchor, xshift=dx, yshift=dy,
        )  # fmt: skip
    frame(figure, 420, x=x_title, y=y_title, top=34)
    ticks = [tick for tick in TICKS if left <= tick <= right]
    figure.update_xaxes(
        type="log", range=[log10(left), log10(right)], tickvals=ticks, ticktext=[f"{tick:g}×" for tick in ticks]
    )
    figure.update_yaxes(range=[bottom, top], nticks=7)
    return figure


def _trace(mark: Mark) -> go.Scatter:
    shape, colour = FAMILY.get(mark.family, FAMILY["runtime"])
    interval = {"type": "data", "symmetric": False, "thickness": 1.2, "width": 3, "color": colour}
    across = None
    if mark.low is not None and mark.high is not None:
        across = {**interval, "array": [mark.high - mark.speedup], "arrayminus": [mark.speedup - mark.low]}
    down = None
    if mark.change_low is not None:
        down = {**interval, "array": [0.0], "arrayminus": [max(0.0, mark.change - mark.change_low)]}
    return go.Scatter(
        x=[mark.speedup],
        y=[mark.change],
        mode="markers",
        error_x=across,
        error_y=down,
        marker={
            "symbol": shape if mark.strong else f"{shape}-open",
            "size": 14 if mark.family == "baseline" else 12,
            "color": colour,
            "line": {"width": 0 if mark.strong else 2, "color": colour},
        },
        text=[f"<b>{for_chart(mark.name)}</b><br>{for_chart(mark.outcome, 120)}"],
        hovertemplate="%{text}<extra></extra>",
    )


def _ranges(marks: Sequence[Mark], goal: float | None, band: float | None) -> tuple[float, float, float, float]:
    across = [1.0, *(v for m in marks for v in (m.speedup, m.low, m.high) if v), *([goal] if goal else [])]
    down = [0.0, *(v for m in marks for v in (m.change, m.change_low) if v is not None)]
    down += [-band] if band is not None else []
    span = max(max(down) - min(down), 1e-9)
    return min(across) / 1.25, max(across) * 1.5, min(down) - 0.18 * span, max(down) + 0.24 * span


def _reference_lines(
    figure: go.Figure,
    across: tuple[float, float],
    down: tuple[float, float],
    goal: float | None,
    band: float | None,
) -> None:
    (left, right), (_, top) = across, down
    if goal is not None and band is not None:
        figure.add_shape(
            type="rect",
            x0=goal,
            x1=right,
            y0=-band,
            y1=top,
            fillcolor=BETTER,
            opacity=0.12,
            line_width=0,
            layer="below",
        )
        note(figure, log10(right), top, "Meets goal and band ", color=BETTER_TEXT, xanchor="right", yanchor="top")
    line(figure, x=(left, right), y=(0, 0), color=MUTED, dash="dot")
    if goal is not None:
        line(figure, x=(goal, goal), y=down, color=BETTER, dash="dash")
        note(figure, log10(goal), top, f"Goal: {goal:g}× ", xanchor="right", yanchor="top")
    if band is not None:
        line(figure, x=across, y=(-band, -band), color=WORSE, dash="dash")
        note(figure, log10(left), -band, f" Band: lose at most {band:g}", yanchor="top")


def _placed(
    marks: Sequence[Mark], across: tuple[float, float], down: tuple[float, float]
) -> list[tuple[str, str, int, int]]:
    """For each mark the first place whose text covers neither another text nor another mark, on a nominal canvas."""
    scale_x = WIDTH_PX / (log10(across[1]) - log10(across[0]))
    scale_y = HEIGHT_PX / (down[1] - down[0])
    spots = [((log10(m.speedup) - log10(across[0])) * scale_x, (m.change - down[0]) * scale_y) for m in marks]
    taken = [(x - 8, y - 8, x + 8, y + 8) for x, y in spots]
    chosen = []
    for (x, y), mark in zip(spots, marks, strict=True):
        width = LETTER_PX * min(len(mark.name), 34)
        boxes = [_box(x, y, width, place) for place in PLACES]
        costs = [sum(_overlap(box, other) for other in taken) + _outside(box) for box in boxes]
        best = costs.index(min(costs))
        taken.append(boxes[best])
        chosen.append(PLACES[best])
    return chosen


def _box(x: float, y: float, width: float, place: tuple[str, str, int, int]) -> tuple[float, float, float, float]:
    xanchor, yanchor, dx, dy = place
    left = x + dx - {"left": 0.0, "center": width / 2, "right": width}[xanchor]
    low = y + dy - {"bottom": 0.0, "top": LINE_PX}[yanchor]
    return left, low, left + width, low + LINE_PX


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> float:
    across = min(a[2], b[2]) - max(a[0], b[0])
    down = min(a[3], b[3]) - max(a[1], b[1])
    return across * down if across > 0 and down > 0 else 0.0


def _outside(box: tuple[float, float, float, float]) -> float:
    return 1000.0 * (max(0.0, -box[0]) + max(0.0, box[2] - WIDTH_PX) + max(0.0, -box[1]) + max(0.0, box[3] - HEIGHT_PX))
