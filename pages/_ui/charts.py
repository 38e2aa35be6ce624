"""What all figures share. Colours are Streamlit's theme tokens, which the browser swaps for those of config.toml.

Needs theme="streamlit" (the default). Two traps, seen in 1.67: a mounted chart keeps its colours when the user
switches Light/Dark, so the mode is part of the key (`show`) and the next rerun repaints it; until then near-black text
would vanish, so chart text is always slate and emphasis is bold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil, floor, log10
from typing import Any

import plotly.graph_objects as go
import streamlit as st

CATEGORY = tuple(f"#0000{slot:02d}" for slot in range(1, 11))
DIVERGING = tuple(f"#0000{slot:02d}" for slot in range(21, 31))
MUTED, PAGE, PANEL, INK = CATEGORY[9], "#000038", "#000040", "#000037"
WORSE, BETTER, BETTER_TEXT = DIVERGING[1], DIVERGING[8], DIVERGING[9]
STEPS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7), (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9))
CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d"],
    "toImageButtonOptions": {"format": "svg", "scale": 1},
}


def frame(figure: go.Figure, height: int, *, x: str | None = None, y: str | None = None, top: int = 10) -> go.Figure:
    """Margins, grid and axis titles as everywhere; the title of y stands above the axis, never rotated."""
    tick = {"color": MUTED, "size": 12}
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 12, "t": top, "b": 8},
        showlegend=False,
        hoverlabel={"align": "left"},
        separators=".,",
    )
    figure.update_xaxes(
        title={"text": x, "font": {"color": MUTED, "size": 13}, "standoff": 10},
        tickfont=tick,
        zeroline=False,
        ticks="",
        automargin=True,
    )
    figure.update_yaxes(tickfont=tick, zeroline=False, ticks="", automargin=True, title=None)
    if y:
        figure.add_annotation(
            x=0, xref="paper", xanchor="left", y=1, yref="paper", yanchor="bottom", yshift=8, text=y,
            showarrow=False, font={"color": MUTED, "size": 13},
        )  # fmt: skip
    return figure


class _Finished(go.Figure):
    """What `finished` makes of a figure."""

    def to_dict(self) -> dict[str, Any]:
        """What was written out when the figure was finished; nobody changes it."""
        known: dict[str, Any] = self._known
        return known


def finished(figure: go.Figure) -> go.Figure:
    """The figure, for a cache: written out once instead of with every run that draws it. It must not change any more.

    Streamlit asks for the dictionary each time, and Plotly copies and encodes all of it: half of what Compare costs.
    """
    figure._known = figure.to_dict()
    figure.__class__ = _Finished
    return figure


def show(figure: go.Figure, key: str, alt: str) -> None:
    """Draw the figure; `alt` says in one sentence what it shows."""
    st.plotly_chart(figure, key=_keyed(key), alt=alt, config=CONFIG)


def show_and_pick(figure: go.Figure, key: str, alt: str, picked: Callable[[Any], None]) -> None:
    """The same; `picked` is called before the next run with the `customdata` of a mark that somebody clicked."""

    def clicked() -> None:
        points = st.session_state[_keyed(key)].selection.points
        if points:  # none: the click went beside the marks, or the figure was drawn anew
            picked(points[0]["customdata"])

    st.plotly_chart(figure, key=_keyed(key), alt=alt, config=CONFIG, on_select=clicked, selection_mode="points")


def _keyed(key: str) -> str:
    return f"{key}-{st.context.theme.type or 'light'}"


def note(figure: go.Figure, x: float, y: float, text: str, **place: Any) -> None:
    """Text at a point. On a log axis x must already be its logarithm. For many see `notes`."""
    figure.add_annotation(**written(x, y, text, **place))


def written(x: float, y: float, text: str, **place: Any) -> dict[str, Any]:
    """The same as an annotation that is not drawn yet."""
    style = {"color": place.pop("color", MUTED), "size": 12}
    return {
        "x": x,
        "y": y,
        "text": text,
        "showarrow": False,
        "font": style,
        "xanchor": "left",
        "yanchor": "bottom",
        **place,
    }


def notes(figure: go.Figure, annotations: Iterable[dict[str, Any]]) -> None:
    """Many texts at once: Plotly looks at all that are there again with every single one."""
    figure.update_layout(annotations=[*figure.layout.annotations, *annotations])


def line(figure: go.Figure, *, x: tuple[float, float], y: tuple[float, float], color: str, dash: str) -> None:
    """A straight reference line above the grid."""
    figure.add_shape(type="line", x0=x[0], x1=x[1], y0=y[0], y1=y[1], line={"color": color, "width": 1.5, "dash": dash})


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers between the ends of a logarithmic axis: at least four where there are so many."""
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    found: list[float] = []
    for steps in STEPS:
        found = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
        if len(found) >= 4:
            break
    return found
