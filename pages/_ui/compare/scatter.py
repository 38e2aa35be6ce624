"""One figure against another: a mark per variant, both intervals, the lines of the promise, and the front."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages._ui.charts import BETTER, BETTER_TEXT, CATEGORY, MUTED, WORSE, frame, line, log_ticks, notes, written
from pages._ui.compare.axes import Axis, Spot
from pages._ui.compare.labels import Obstacle, place
from pages._ui.text import both_ends, for_chart

FAMILY = {  # first lever's family -> (shape, colour); shape and colour say the same
    "baseline": ("diamond", MUTED),
    "runtime": ("circle", CATEGORY[0]),
    "export": ("circle", CATEGORY[0]),
    "quantisation": ("square", CATEGORY[2]),
    "pruning": ("triangle-up", CATEGORY[1]),
    "distillation": ("pentagon", CATEGORY[4]),
}
Span = tuple[float, float]
MOST_SVG = 1000  # points; from there on WebGL
MOST_INTERVALS = 40  # variants; with more only those on the front and the chosen have their intervals drawn
HEIGHT_PX = 440
LABEL = 30  # letters
MOST_OBSTACLES = 300  # marks without bars that names avoid


@dataclass(frozen=True, slots=True)
class Mark:
    """One variant. kept: the promise. front: nothing beats it on both axes. strong: named in any case."""

    id: str
    name: str
    family: str
    x: Spot
    y: Spot
    hover: str
    kept: bool = False
    front: bool = False
    strong: bool = False

    @property
    def is_baseline(self) -> bool:
        """True for the original."""
        return self.family == "baseline"


def scatter(marks: Sequence[Mark], x: Axis, y: Axis, named: Sequence[Mark]) -> go.Figure:
    """marks: at least two. named: those that are written out, the most important first."""
    spans = _span([mark.x for mark in marks], x, 0.10, 0.16), _span([mark.y for mark in marks], y, 0.12, 0.16)
    many = len(marks) > MOST_INTERVALS
    kind = go.Scattergl if len(marks) > MOST_SVG else go.Scatter
    bars = [_intervals(alike) for alike in _groups(_with_intervals(marks))]
    figure = go.Figure(
        [
            _front_line(marks, x),
            *bars,
            *(_cloud(alike, kind, many) for alike in _groups(marks)),
        ]
    )
    frame(figure, HEIGHT_PX, x=x.title, y=y.title, top=34)
    texts = _promise(figure, x, y, spans)
    notes(figure, [*texts, *_names(named, marks, x, y, spans)])
    for axis, span, update in ((x, spans[0], figure.update_xaxes), (y, spans[1], figure.update_yaxes)):
        if axis.log:
            ticks = log_ticks(10 ** span[0], 10 ** span[1])
            update(type="log", range=span, tickvals=ticks, ticktext=[f"{tick:g}{_unit(axis)}" for tick in ticks])
        else:
            update(range=span, nticks=7)
    return figure


def _groups(marks: Sequence[Mark]) -> list[list[Mark]]:
    """Marks that look the same: a trace with one look is built much faster than one with a look per mark.

    What is faded comes first and the original last: what comes later is drawn over it.
    """
    found: dict[tuple[str, bool, bool], list[Mark]] = {}
    for mark in marks:
        found.setdefault((mark.family, mark.kept, _bold(mark)), []).append(mark)
    return [found[look] for look in sorted(found, key=lambda look: (look[2], look[0] == "baseline"))]


def _unit(axis: Axis) -> str:
    return axis.unit if axis.unit == "×" else ""


def _at(axis: Axis, value: float) -> float:
    """Where a value stands for annotations and ranges: its logarithm on a log axis."""
    return log10(value) if axis.log else value


def _span(spots: Sequence[Spot], axis: Axis, low: float, high: float) -> Span:
    """Ends of the axis: all values, intervals within reason, the promise, and room for names."""
    values = [spot.value for spot in spots]
    values += [bound for spot in spots for bound in (spot.low, spot.high) if bound is not None and len(spots) < 200]
    values += [extra for extra in (axis.limit, axis.at_original) if extra is not None]
    known = [_at(axis, value) for value in values if value > 0 or not axis.log]
    width = max(max(known) - min(known), 0.12 if axis.log else 1e-3)
    return min(known) - low * width, max(known) + high * width


def _promise(figure: go.Figure, x: Axis, y: Axis, spans: tuple[Span, Span]) -> list[dict[str, Any]]:
    """Draw the lines of goal and band, the original's line, and the field where both are kept; returns their texts."""
    left, right = (_back(x, end) for end in spans[0])
    bottom, top = (_back(y, end) for end in spans[1])
    texts = []
    if x.limit is not None and y.limit is not None:
        edge, side, text = (right, "right", "{} ") if x.larger else (left, "left", " {}")
        figure.add_shape(
            type="rect", x0=x.limit, x1=edge, y0=y.limit, y1=top if y.larger else bottom, fillcolor=BETTER,
            opacity=0.12, line_width=0, layer="below",
        )  # fmt: skip
        said = text.format("Meets goal and band")
        texts.append(written(_at(x, edge), spans[1][1], said, color=BETTER_TEXT, xanchor=side, yanchor="top"))
    if y.at_original is not None:
        line(figure, x=(left, right), y=(y.at_original, y.at_original), color=MUTED, dash="dot")
    if x.limit is not None:
        line(figure, x=(x.limit, x.limit), y=(bottom, top), color=BETTER, dash="dash")
        side, text = ("right", f"{x.limit_text} ") if x.larger else ("left", f" {x.limit_text}")
        texts.append(written(_at(x, x.limit), spans[1][1], text, xanchor=side, yanchor="top"))
    if y.limit is not None:
        line(figure, x=(left, right), y=(y.limit, y.limit), color=WORSE, dash="dash")
        at, side, text = (
            (spans[0][0], "left", f" {y.limit_text}") if x.larger else (spans[0][1], "right", f"{y.limit_text} ")
        )
        texts.append(written(at, _at(y, y.limit), text, xanchor=side, yanchor="top"))
    return texts


def _back(axis: Axis, end: float) -> float:
    return 10**end if axis.log else end


def _front_line(marks: Sequence[Mark], x: Axis) -> go.Scatter:
    """Stepped: everything on its worse side is beaten by a mark on it."""
    on = sorted((mark.x.value, mark.y.value) for mark in marks if mark.front)
    return go.Scatter(
        x=[one for one, _ in on],
        y=[one for _, one in on],
        mode="lines",
        line={"color": MUTED, "width": 1.5, "shape": "vh" if x.larger else "hv"},
        hoverinfo="skip",
    )


def _with_intervals(marks: Sequence[Mark]) -> list[Mark]:
    if len(marks) <= MOST_INTERVALS:
        return list(marks)
    return [mark for mark in marks if mark.front or mark.strong][:MOST_INTERVALS]


def _intervals(marks: Sequence[Mark]) -> go.Scatter:
    """Both bars of marks that look the same, in a trace of their own, so that the marks can be many."""
    colour = FAMILY.get(marks[0].family, FAMILY["runtime"])[1]
    look = {"type": "data", "symmetric": False, "thickness": 1.2, "width": 3, "color": colour}
    return go.Scatter(
        x=np.array([mark.x.value for mark in marks]),
        y=np.array([mark.y.value for mark in marks]),
        mode="markers",
        marker={"size": 1, "color": colour},
        opacity=1.0 if _bold(marks[0]) else 0.55,
        error_x={**look, **_bars([mark.x for mark in marks])},
        error_y={**look, **_bars([mark.y for mark in marks])},
        hoverinfo="skip",
    )


def _bars(spots: Sequence[Spot]) -> dict[str, np.ndarray]:
    return {
        "array": np.array([max(0.0, spot.ends[1] - spot.value) for spot in spots]),
        "arrayminus": np.array([max(0.0, spot.value - spot.ends[0]) for spot in spots]),
    }


def _cloud(marks: Sequence[Mark], kind: type[go.Scatter | go.Scattergl], many: bool) -> go.Scatter | go.Scattergl:
    """Marks that look the same: filled where the promise is kept, faded where another one beats them on both axes."""
    first = marks[0]
    shape, colour = FAMILY.get(first.family, FAMILY["runtime"])
    crowd = kind is go.Scattergl
    size = 5 if crowd else 8 if many else 11
    if first.is_baseline or (many and _bold(first)):
        size += 7 if crowd and first.is_baseline else 3
    return kind(
        x=np.array([mark.x.value for mark in marks]),
        y=np.array([mark.y.value for mark in marks]),
        mode="markers",
        customdata=np.array([mark.id for mark in marks], object),
        marker={
            "symbol": shape if first.kept or first.is_baseline else f"{shape}-open",
            "size": size,
            "color": colour,
            "opacity": 1.0 if _bold(first) else 0.3 if crowd else 0.5,
            "line": {"width": 1.2 if many else 2, "color": colour},
        },
        text=np.array([mark.hover for mark in marks], object),
        hovertemplate="%{text}<extra></extra>",
        selected={"marker": {"opacity": 1.0}},
        unselected={"marker": {"opacity": 0.4}},
    )


def _bold(mark: Mark) -> bool:
    return mark.front or mark.is_baseline or mark.strong


def _names(
    named: Sequence[Mark], marks: Sequence[Mark], x: Axis, y: Axis, spans: tuple[Span, Span]
) -> list[dict[str, Any]]:
    """Names beside their marks, bold on the front; off the marks and their bars, of very many off a share of them."""
    with_bars = _with_intervals(marks)

    def part(axis: Axis, span: Span) -> Callable[[float], float]:
        return lambda value: (_at(axis, value) - span[0]) / (span[1] - span[0])

    right, up = part(x, spans[0]), part(y, spans[1])
    obstacles = [
        Obstacle(right(mark.x.value), up(mark.y.value), *map(right, mark.x.ends), *map(up, mark.y.ends))
        for mark in with_bars
    ]
    bare = [(right(mark.x.value), up(mark.y.value)) for mark in marks[:: len(marks) // MOST_OBSTACLES + 1]]
    obstacles += [Obstacle(x, y, x, x, y, y) for x, y in bare]
    texts = [for_chart(both_ends(mark.name, LABEL)) for mark in named]
    spots = [(right(mark.x.value), up(mark.y.value)) for mark in named]
    labels = place(spots, [len(text) for text in texts], obstacles)
    return [
        written(
            _at(x, mark.x.value), _at(y, mark.y.value), f"<b>{text}</b>" if _bold(mark) else text, **label.drawn()
        )
        for mark, text, label in zip(named, texts, labels, strict=True)
    ]  # fmt: skip
