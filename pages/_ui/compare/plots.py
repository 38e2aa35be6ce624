"""The picture of the comparison: what its axes show is chosen, a click on a mark opens the variant's card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
import streamlit as st

from pages._ui import loaders
from pages._ui.charts import finished, show_and_pick
from pages._ui.compare import view
from pages._ui.compare.axes import Axis
from pages._ui.compare.data import Compared, compared, marks, matching
from pages._ui.compare.order import Filters
from pages._ui.compare.scatter import Mark, scatter
from pages._ui.explanations import about
from pages._ui.parts import card_title

FEW, MOST_NAMES = 12, 14
CROWDED, MOST_IN_CROWD = 200, 7  # marks, from which on names find little room


@dataclass(frozen=True)
class Picture:
    """figure: None where there is nothing to see. alt: what it shows in one sentence; caption: how to read it."""

    figure: go.Figure | None
    alt: str = ""
    caption: str = ""


def scatter_card(looked: Compared, filters: Filters, strong: Sequence[str], seen: loaders.Seen) -> None:
    """strong: ids that are named in any case. Without two marks there is nothing to see, and no card."""
    x, y = view.value("x"), view.value("y")
    if x not in looked.across or y not in looked.upwards:
        return
    found = picture(looked.study.id, looked.beside.batch, filters, (x, y), tuple(strong), seen)
    if found.figure is None:
        return
    with st.container(border=True, key="cm-scatter-card", gap="xsmall"):
        card_title(_title(looked.across[x], looked.upwards[y]), lambda: _axes(looked), help=about("front"))
        show_and_pick(found.figure, "cm-scatter", found.alt, _open_card)
        st.caption(found.caption)


@st.cache_resource(show_spinner=False, max_entries=8)
def picture(
    study_id: str, batch: int, filters: Filters, axes: tuple[str, str], strong: tuple[str, ...], seen: loaders.Seen
) -> Picture:
    """Built once for a view: the order and the columns of the table do not change it."""
    looked = compared(study_id, batch, seen)
    x, y = looked.across[axes[0]], looked.upwards[axes[1]]
    shown = matching(study_id, batch, filters, seen)
    drawn = marks(shown, x, y, strong)
    if len(drawn) < 2:
        return Picture(None)
    return Picture(finished(scatter(drawn, x, y, named(drawn))), _alt(drawn, x, y), _caption(drawn, len(shown), y))


def named(drawn: Sequence[Mark]) -> list[Mark]:
    """The marks whose names are written, the most important first: all of a few, else the front and the chosen."""
    ranked = sorted(drawn, key=lambda mark: (not mark.is_baseline, not mark.strong, not mark.kept, not mark.front))
    if len(drawn) <= FEW:
        return ranked
    wanted = [mark for mark in ranked if mark.is_baseline or mark.strong or mark.front]
    return wanted[: MOST_NAMES if len(drawn) < CROWDED else MOST_IN_CROWD]


def _axes(looked: Compared) -> None:
    with st.container(horizontal=True, width="content", vertical_alignment="center", gap="small"):
        for name, label, axes in (("y", "Up", looked.upwards), ("x", "Across", looked.across)):
            st.selectbox(
                label, list(axes), format_func=lambda key, axes=axes: axes[key].label, key=view.FIELDS[name].key,
                label_visibility="collapsed", width=180, on_change=view.touch,
                help="The vertical axis" if name == "y" else "The horizontal axis",
            )  # fmt: skip


def _open_card(experiment_id: object) -> None:
    """Callback of a click."""
    view.put("card", experiment_id[0] if isinstance(experiment_id, list | tuple) else experiment_id)


def _title(x: Axis, y: Axis) -> str:
    return f"{y.label} against {x.label[0].lower()}{x.label[1:]}"


def _alt(drawn: Sequence[Mark], x: Axis, y: Axis) -> str:
    rest = [mark for mark in drawn if not mark.is_baseline]
    kept = sum(mark.kept for mark in rest)
    on = sum(mark.front for mark in rest)
    return f"{len(rest):,} variants by {x.label} and {y.label}; {kept:,} keep the promise, {on:,} are on the front"


def _caption(drawn: Sequence[Mark], n_shown: int, y: Axis) -> str:
    parts = [
        "The diamond is the original. Filled marks keep the promise, open ones miss it. The grey line is the front: "
        "what is faded is beaten on both axes. Being on the front is not a recommendation.",
        "Bars are 95% intervals" + ("; downwards, how bad it could still be." if not y.log else "."),
        "Click a mark to read about it.",
    ]
    if left := n_shown - len(drawn):
        parts.append(f"{left:,} run{' is' if left == 1 else 's are'} not drawn: without these two figures.")
    return " ".join(parts)
