"""Slices, or classes, against the chosen variants; a slice that is chosen or clicked is read out in full below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from engine.records import Band, ClassFigure, Metric, QualityReport, QualityVerdict, SliceQuality
from engine.reports import numbers
from pages._ui import loaders
from pages._ui.charts import finished, show_and_pick
from pages._ui.compare.data import Compared, whole
from pages._ui.compare.variants import Variant
from pages._ui.experiment.quality import QUALITY
from pages._ui.explanations import about
from pages._ui.parts import card_title, md_badge
from pages._ui.slice_map import BETWEEN, change_text, key_of, slice_map
from pages._ui.text import plain
from pages._ui.words import METRICS, drop_unit

PERCENT, MOST_SLICES = 100.0, 40
WHOLE = ("All rows", "")
FIGURES: dict[str, Callable[[ClassFigure], tuple[float | None, float | None]]] = {
    "Recall": lambda one: one.recall,
    "Precision": lambda one: one.precision,
    "F1": lambda one: one.f1,
}
Cells = Sequence[SliceQuality]
Place = tuple[str, str]
KEY = "cm-slice"


@dataclass(frozen=True)
class SliceMap:
    """A figure with how to read it, and its cells by run. metric: how values are written; None: as shares."""

    figure: go.Figure
    alt: str
    caption: str
    shown: Mapping[str, Cells]
    metric: Metric | None


def slices_card(looked: Compared, chosen: Sequence[Variant], seen: loaders.Seen) -> bool:
    """chosen: the variants that are looked at closely. False: there is nothing to draw."""
    ways = _ways(chosen, seen)
    if not ways:
        return False
    with st.container(border=True, key="cm-slices-card", gap="small"):
        card_title("Slices and classes", lambda: _way(ways), help=about("slices"))
        way = st.session_state["pick-cm-way"]
        found = drawn_slices(looked.study.id, tuple((one.id, one.short) for one in chosen), way, seen)
        show_and_pick(found.figure, "cm-slices", found.alt, _picked)
        st.caption(f"{found.caption} Click a cell to read it in full.")
        _drill_down(found, {one.id: one.name for one in chosen})
    return True


def _ways(chosen: Sequence[Variant], seen: loaders.Seen) -> list[str]:
    """What some of them can show: slices, and figures of classes."""
    reports = [run.quality for run in whole(tuple(one.id for one in chosen), seen) if run.quality]
    ways = ["Slices"] if any(report.slices for report in reports) else []
    return ways + (list(FIGURES) if any(report.classes for report in reports) else [])


def _way(ways: Sequence[str]) -> None:
    if st.session_state.get("pick-cm-way") not in ways:
        st.session_state["pick-cm-way"] = ways[0]
    if len(ways) > 1:
        st.segmented_control(
            "Show", ways, key="pick-cm-way", required=True, label_visibility="collapsed",
            format_func=lambda way: way if way == "Slices" else f"{way} of classes",
        )  # fmt: skip


@st.cache_resource(show_spinner=False, max_entries=16)
def drawn_slices(study_id: str, named: tuple[tuple[str, str], ...], way: str, seen: loaders.Seen) -> SliceMap:
    """Built once for a choice of variants. named: ids with the names to write."""
    band = loaders.study(study_id, seen).promise.band
    reports = {run.id: run.quality for run in whole(tuple(key for key, _ in named), seen) if run.quality}
    found = {key: _cells(report, band, way) for key, report in reports.items()}
    found = {key: cells for key, cells in found.items() if cells}
    kept = worst_places(found.values())
    shown = {key: [cell for cell in cells if _place(cell) in kept] for key, cells in found.items()}
    figure = slice_map([(name, shown[key]) for key, name in named if key in shown], band.slice_max_drop, PERCENT)
    n_places = len({_place(cell) for cells in found.values() for cell in cells} - {WHOLE})
    cut = f" The {MOST_SLICES} worst of {n_places} are shown." if n_places > MOST_SLICES else ""
    limit = f"{band.slice_max_drop * PERCENT:.2f}"
    if way == "Slices":
        what, of = METRICS[band.metric] if band.metric else "quality", "slices"
        caption = (
            f"Change in {what} against the original, {drop_unit(band)}; a minus is a loss. Tinted beyond half of the "
            f"limit ({limit}), dark with ✕ beyond the limit. Hatched: too few rows for a verdict.{cut}"
        )
    else:
        what, of = way.lower(), "classes"
        caption = (
            f"Change in {what} of each class against the original, points; a minus is a loss. Tinted beyond half of "
            f"{limit}, the limit of slices. For information: a class has no verdict of its own here.{cut}"
        )
    alt = f"Change in {what} for {min(n_places, MOST_SLICES)} {of} and {len(shown)} variants"
    return SliceMap(finished(figure), alt, caption, shown, band.metric if way == "Slices" else None)


def worst_places(found: Iterable[Cells]) -> set[Place]:
    """The slices that are shown: all rows, and of the others those that lost most in any variant."""
    worst: dict[Place, float] = {}
    for cells in found:
        for cell in cells:
            drop = float("-inf") if cell.drop is None else cell.drop
            worst[_place(cell)] = max(worst.get(_place(cell), float("-inf")), drop)
    worst.pop(WHOLE, None)
    return {WHOLE, *sorted(worst, key=lambda place: -worst[place])[:MOST_SLICES]}


def _drill_down(found: SliceMap, names: Mapping[str, str]) -> None:
    """One slice, all variants: a row each."""
    places = list(dict.fromkeys(_place(cell) for cells in found.shown.values() for cell in cells))
    keys = [key_of(*place) for place in places]
    if st.session_state.get(KEY) not in keys:
        st.session_state[KEY] = None
    chosen = st.selectbox(
        "Slice", keys, key=KEY, width=320, placeholder="Choose one to read it in full", format_func=_spoken,
        label_visibility="collapsed", index=None,
    )  # fmt: skip
    if chosen is None:
        return
    place = places[keys.index(chosen)]
    rows = [
        _row(cell, run, names[run], found.metric)
        for run, cells in found.shown.items()
        for cell in cells
        if _place(cell) == place
    ]
    st.table(pd.DataFrame(rows), border="horizontal", hide_index=True, alt=f"{_spoken(chosen)} in every variant")


def _row(cell: SliceQuality, run: str, name: str, metric: Metric | None) -> dict[str, str]:
    reason = f"  \n:gray[{plain(cell.reason, 120)}]" if cell.reason else ""
    where = f"experiment?id={run}#agreement-with-the-original"
    return {
        "Variant": plain(name, 90),
        "Rows": f"{cell.n_rows:,}",
        "Original": _value(cell.baseline, metric),
        "Variant's": _value(cell.candidate, metric),
        "Change": change_text(cell.drop, PERCENT),
        "Could be as bad as": change_text(cell.bound, PERCENT),
        "By chance": numbers.MISSING if cell.harm_p is None else _chance(cell.harm_p),
        "Verdict": md_badge(QUALITY[cell.verdict]) + reason,
        "Worst rows": f"[Rows that differ]({where})",
    }


def _value(value: float | None, metric: Metric | None) -> str:
    return numbers.percent(value, 2) if metric is None else numbers.quality(value, metric)


def _chance(p: float) -> str:
    return "< 0.1%" if p < 0.001 else numbers.percent(p, 1)


def _spoken(key: str) -> str:
    column, _, value = key.partition(BETWEEN)
    return f"{column}: {value}"[:80] if value else column


def _picked(place: object) -> None:
    """Callback of a click on a cell."""
    st.session_state[KEY] = place[0] if isinstance(place, list | tuple) else place


def _cells(report: QualityReport, band: Band, way: str) -> list[SliceQuality]:
    if way in FIGURES:
        return [_class_cell(one, *FIGURES[way](one)) for one in report.classes]
    if not report.slices:
        return []
    all_rows = SliceQuality(
        column=WHOLE[0], value=WHOLE[1], n_rows=report.n_rows, baseline=report.baseline, candidate=report.candidate,
        drop=report.drop, bound=report.bound, verdict=_whole(report, band.max_drop),
    )  # fmt: skip
    return [all_rows, *report.slices]


def _whole(report: QualityReport, limit: float) -> QualityVerdict:
    """All rows have a limit of their own; the report's verdict also speaks for the slices."""
    if report.drop is None:
        return "not judged"
    return "outside" if report.drop > limit else "within band"


def _class_cell(one: ClassFigure, baseline: float | None, candidate: float | None) -> SliceQuality:
    """A class as a cell of the map. It is never judged: there is no bound."""
    drop = None if baseline is None or candidate is None else baseline - candidate
    return SliceQuality(
        column="class", value=one.name, n_rows=one.n_rows, baseline=baseline, candidate=candidate, drop=drop,
        verdict="not judged",
    )  # fmt: skip


def _place(cell: SliceQuality) -> Place:
    return cell.column, cell.value
