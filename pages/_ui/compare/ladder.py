"""Step by step: what each change of a chain did to time and quality, as far as the shorter chains were run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from engine.records import ExperimentSummary
from engine.reports import numbers
from engine.reports.ladder import ladder
from pages._ui import loaders
from pages._ui.charts import BETTER, MUTED, WORSE, finished, frame, notes, show, written
from pages._ui.compare.axes import Spot
from pages._ui.compare.column import Column
from pages._ui.compare.data import Compared, compared
from pages._ui.compare.table import cells, result_cell, unbroken
from pages._ui.compare.variants import Variant
from pages._ui.explanations import about
from pages._ui.parts import card_title
from pages._ui.text import both_ends, for_chart, plain
from pages._ui.variants import step_name

ROW_PX, NAME = 40, 26
COLUMNS = ("p50_ms", "speedup", "metric_value", "worst_slice_drop", "size_bytes")


@dataclass(frozen=True)
class Rung:
    """One step: what it is called, and the run that ends with it; None where that was never run."""

    name: str
    variant: Variant | None


@dataclass(frozen=True)
class Ladder:
    """Figure (None with fewer than two steps that were run), alt, table, and the steps that were not run alone."""

    figure: go.Figure | None
    alt: str
    table: pd.DataFrame
    missing: list[str]


def ladder_card(looked: Compared, chosen: Sequence[Variant], seen: loaders.Seen) -> bool:
    """chosen: the variants that are looked at closely. False: all of them have one step or none, and so no ladder."""
    longer = {one.id: one for one in chosen if len(one.run.spec.recipe.steps) > 1 and one.row.status == "succeeded"}
    if not longer:
        return False
    with st.container(border=True, key="cm-ladder-card", gap="small"):
        if st.session_state.get("cm-ladder") not in longer:
            st.session_state["cm-ladder"] = next(iter(longer))
        card_title("Step by step", lambda: _choice(longer), help=about("ladder"))
        found = drawn_ladder(looked.study.id, looked.beside.batch, st.session_state["cm-ladder"], seen)
        if found.figure is not None:
            show(found.figure, "cm-ladder-figure", found.alt)
        st.table(found.table, border="horizontal", hide_index=True, alt="Time and quality after each step")
        if found.missing:
            named = plain(", ".join(found.missing), 200)
            st.caption(f"Not run on its own: {named}. Queue the chain up to that step to see its part.")
    return True


@st.cache_resource(show_spinner=False, max_entries=16)
def drawn_ladder(study_id: str, batch: int, experiment_id: str, seen: loaders.Seen) -> Ladder:
    """Built once for a chain."""
    looked = compared(study_id, batch, seen)
    rungs = rungs_of(looked, looked.by_id[experiment_id], seen)
    there = drawn(rungs)
    figure = finished(ladder_figure(looked, there)) if len(there) > 1 else None
    return Ladder(figure, _alt(there), steps_table(looked, rungs), [one.name for one in rungs if one.variant is None])


def rungs_of(looked: Compared, one: Variant, seen: loaders.Seen) -> list[Rung]:
    """The original, then every step of the chain."""
    steps = one.run.spec.recipe.steps
    related = _related(loaders.summaries(looked.study.id, seen), one)
    rows = ladder(looked.study, related, one.id, looked.beside.batch)
    by_id = looked.by_id
    by_length: dict[int, Variant] = {}
    for row in rows:
        found = by_id[row.experiment]
        by_length[0 if found.is_baseline else len(found.run.spec.recipe.steps)] = found
    names = ["Original", *(step_name(step) for step in steps)]
    return [Rung(name, by_length.get(at)) for at, name in enumerate(names)]


def drawn(rungs: Sequence[Rung]) -> list[Rung]:
    """Those that were run; a bar that stands for several steps says so."""
    found, before = [], 0
    for rung in rungs:
        if rung.variant is None:
            before += 1
            continue
        name = f"{before + 1} steps, to {rung.name}" if before else rung.name
        found.append(Rung(name, rung.variant))
        before = 0
    return found


def _related(runs: Sequence[ExperimentSummary], one: Variant) -> list[ExperimentSummary]:
    """The runs a ladder may need: the originals and those whose chain begins this one."""
    steps = one.run.spec.recipe.steps
    return [run for run in runs if run.id == one.id or run.spec.recipe.steps == steps[: len(run.spec.recipe.steps)]]


def steps_table(looked: Compared, rungs: Sequence[Rung]) -> pd.DataFrame:
    """A row per step; the change of the step itself beside the change against the original."""
    there = [rung.variant for rung in rungs if rung.variant is not None]
    columns = [looked.columns[key] for key in COLUMNS if key in looked.columns]
    written = {
        column.key: dict(zip((one.id for one in there), cells(column, there), strict=True)) for column in columns
    }
    before: Variant | None = None
    rows = []
    for rung in rungs:
        one = rung.variant
        row = {"Step": unbroken(rung.name), "Result": result_cell(one) if one else ":gray[not run on its own]"}
        row["This step alone"] = _own(before, one)
        for column in columns:
            row[plain(column.title)] = numbers.MISSING if one is None else written[column.key][one.id]
        rows.append(row)
        before = one
    return pd.DataFrame(rows)


def _own(before: Variant | None, one: Variant | None) -> str:
    """Ratio of two speed-ups to the same original: it has no interval, so it is not judged."""
    if before is None or one is None or before.row.speedup is None or one.row.speedup is None:
        return numbers.MISSING
    return f":gray[{one.row.speedup / before.row.speedup:.2f}×]"


def ladder_figure(looked: Compared, rungs: Sequence[Rung]) -> go.Figure:
    """Left the time after each step: grey is left, teal was saved, rust was added. Right the change in quality."""
    time, quality = looked.columns["p50_ms"], looked.upwards.get("quality")
    values = [_number(time, rung) for rung in rungs]
    top = max((value for value in values if value is not None), default=1.0)
    names = [for_chart(both_ends(rung.name, NAME)) for rung in rungs]
    pairs = list(zip([None, *values], values, strict=False))
    bars = [bar for at, (before, value) in enumerate(pairs) for bar in _bars(at, before, value)]
    spots = [quality.read(rung.variant) if quality and rung.variant else None for rung in rungs]
    figure = go.Figure([*bars, *(_spot(at, spot) for at, spot in enumerate(spots) if spot is not None)])
    frame(figure, ROW_PX * len(rungs) + 92, top=30)
    places = time.places or 0
    texts = [
        written(top * 1.04, at, f"<b>{value:,.{places}f}</b>", yanchor="middle")
        for at, value in enumerate(values)
        if value is not None
    ]
    rows = {"tickvals": list(range(len(rungs))), "range": [len(rungs) - 0.5, -0.5], "showgrid": False}
    figure.update_layout(
        barmode="overlay",
        xaxis={"title": {"text": f"p50 after the step, {time.unit}"}, "range": [0, top * 1.3], "tickvals": _ticks(top)},
        yaxis={**rows, "ticktext": names, "tickfont": {"color": MUTED, "size": 13}},
    )
    if quality is None:
        notes(figure, texts)
        return figure
    axis = {"title": {"text": f"{quality.label}, change"}, "tickangle": 0, "nticks": 5, "anchor": "y2"}
    figure.update_layout(xaxis={"domain": [0, 0.6]}, xaxis2={**_look(figure), **axis, "domain": [0.66, 1]})
    figure.update_layout(yaxis2={**rows, "anchor": "x2", "showticklabels": False, "matches": "y", "zeroline": False})
    if quality.limit is not None:
        figure.add_shape(
            type="line", xref="x2", yref="y2 domain", x0=quality.limit, x1=quality.limit, y0=0, y1=1,
            line={"color": WORSE, "width": 1.5, "dash": "dash"},
        )  # fmt: skip
        texts.append(written(quality.limit, 1, "Band", xref="x2", yref="paper"))
    notes(figure, texts)
    return figure


def _look(figure: go.Figure) -> dict[str, Any]:
    """How `frame` made the first axis look, for the second."""
    known = figure.layout.xaxis.to_plotly_json()
    return {name: known[name] for name in ("tickfont", "zeroline", "ticks", "automargin")}


def _bars(at: int, before: float | None, value: float | None) -> list[go.Bar]:
    """What is left in grey, and in colour what the step saved or added."""
    if value is None:
        return []
    style = {"orientation": "h", "width": 0.6, "y": [at], "hoverinfo": "skip"}
    found = [go.Bar(x=[value], marker={"color": MUTED, "opacity": 0.3 if at else 0.75}, **style)]
    if before is not None:
        colour = BETTER if value < before else WORSE
        found.append(go.Bar(base=[min(before, value)], x=[abs(before - value)], marker={"color": colour}, **style))
    return found


def _spot(at: int, spot: Spot) -> go.Scatter:
    low, high = spot.ends
    return go.Scatter(
        x=[spot.value], y=[at], mode="markers", hoverinfo="skip", xaxis="x2", yaxis="y2",
        marker={"size": 9, "color": MUTED, "symbol": "circle" if at else "diamond"},
        error_x={"type": "data", "symmetric": False, "array": [high - spot.value], "arrayminus": [spot.value - low],
                 "thickness": 1.4, "width": 4, "color": MUTED},
    )  # fmt: skip


def _ticks(top: float) -> list[float]:
    """From 0 to the longest bar, in two to five round steps."""
    step = 10.0 ** floor(log10(top))
    step = next(part * step for part in (0.2, 0.5, 1) if top / (part * step) <= 5)
    return [step * at for at in range(int(top / step) + 1)]


def _number(column: Column, rung: Rung) -> float | None:
    value = column.value(rung.variant) if rung.variant else None
    return value if isinstance(value, float | int) else None


def _choice(longer: Mapping[str, Variant]) -> None:
    if len(longer) > 1:
        st.selectbox(
            "Chain", list(longer), key="cm-ladder", label_visibility="collapsed", width=320,
            format_func=lambda key: longer[key].name,
        )  # fmt: skip


def _alt(rungs: Sequence[Rung]) -> str:
    first, last = rungs[0].variant, rungs[-1].variant
    assert first is not None
    assert last is not None
    return f"From {numbers.latency(first.row.p50_ms)} to {numbers.latency(last.row.p50_ms)} in {len(rungs) - 1} steps"
