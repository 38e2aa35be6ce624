"""One mark per slice: how much it lost, how bad it could still be, and where the limit lies."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from engine.records import SliceQuality
from pages._ui.charts import BETTER, CATEGORY, MUTED, WORSE, frame, line, note
from pages._ui.slice_map import change_text, slice_name
from pages._ui.text import for_chart

ROW_PX = 26
KINDS = {  # what a slice did -> colour, mark, size
    "outside": (WORSE, "x", 10),
    "inside": (CATEGORY[0], "circle", 9),
    "better": (BETTER, "triangle-right", 10),
}


def slice_drops(cells: Sequence[SliceQuality], *, limit: float, unit: float, title: str) -> go.Figure:
    """cells: with a drop each, the first on top. limit: largest drop allowed; unit: what a drop is multiplied by."""
    figure = go.Figure()
    for kind, (colour, symbol, size) in KINDS.items():
        at = [place for place, cell in enumerate(cells) if _kind(cell, limit) == kind]
        if at:
            figure.add_trace(_trace([cells[place] for place in at], at, unit, colour, symbol, size))
    frame(figure, 74 + ROW_PX * len(cells), x=f"{title} (left is worse)", top=30)
    drops = [-(cell.drop or 0.0) * unit for cell in cells] + [-(cell.bound or 0.0) * unit for cell in cells]
    low, high = min([*drops, -limit * unit, 0.0]), max([*drops, 0.0])
    room = 0.06 * (high - low or 1.0)
    ends = (-0.6, len(cells) - 0.4)
    line(figure, x=(0.0, 0.0), y=ends, color=MUTED, dash="dot")
    edge = -limit * unit
    line(figure, x=(edge, edge), y=ends, color=WORSE, dash="dash")
    note(figure, edge, ends[0], f"limit {change_text(limit, unit)}", xanchor="left", yanchor="bottom", xshift=-4)
    figure.update_xaxes(range=[low - room, high + room], nticks=7)
    names = [f"{slice_name(c.column, c.value)}  <span style='font-size:11px'>n {c.n_rows:,}</span>" for c in cells]
    figure.update_yaxes(tickvals=list(range(len(cells))), ticktext=names, range=[ends[1], ends[0]], showgrid=False)
    return figure


def _kind(cell: SliceQuality, limit: float) -> str:
    if cell.verdict in ("outside", "fail"):
        return "outside"
    return "better" if (cell.drop or 0.0) < -limit / 2 else "inside"


def _trace(
    cells: Sequence[SliceQuality], at: Sequence[int], unit: float, colour: str, symbol: str, size: int
) -> go.Scatter:
    return go.Scatter(
        x=[-(cell.drop or 0.0) * unit for cell in cells],
        y=list(at),
        mode="markers",
        marker={"color": colour, "symbol": symbol, "size": size},
        error_x={
            "type": "data", "symmetric": False, "array": [0.0] * len(cells),
            "arrayminus": [_further(cell) * unit for cell in cells], "color": colour, "thickness": 1.4, "width": 4,
        },
        text=[_hover(cell, unit) for cell in cells],
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip


def _further(cell: SliceQuality) -> float:
    """How much worse than measured it could still be."""
    return 0.0 if cell.bound is None else max(0.0, cell.bound - (cell.drop or 0.0))


def _hover(cell: SliceQuality, unit: float) -> str:
    lines = [f"<b>{slice_name(cell.column, cell.value)}</b>, n {cell.n_rows:,}"]
    lines.append(f"change {change_text(cell.drop, unit)}")
    if cell.bound is not None:
        lines.append(f"could be as bad as {change_text(cell.bound, unit)}")
    lines.append(for_chart(cell.reason or cell.verdict, 120))
    return "<br>".join(lines)
