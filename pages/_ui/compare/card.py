"""One variant of the comparison up close: how it stands, its main figures, and what can be done with it."""

from __future__ import annotations

import streamlit as st

from engine.reports.conformance import edges_line
from pages._ui import loaders
from pages._ui.certificate.certifying import can_be_certified, certify_action
from pages._ui.compare import view
from pages._ui.compare.column import Column
from pages._ui.compare.data import Compared
from pages._ui.compare.table import cells, result_cell
from pages._ui.compare.variants import Variant
from pages._ui.explanations import why
from pages._ui.gain import gain
from pages._ui.parts import card_title
from pages._ui.text import plain

FIGURES = (
    "p50_ms",
    "speedup",
    "goal_speedup",
    "whole_request",
    "metric_value",
    "worst_slice_drop",
    "size_bytes",
    "cost_per_1k",
)


def variant_card(looked: Compared) -> None:
    """The card of the variant that was clicked, until it is closed."""
    one = looked.by_id.get(view.value("card"))
    if one is None:
        return
    with st.container(border=True, key="cm-card", gap="small"):
        card_title(plain(one.name, 90), _close)
        st.markdown(result_cell(one))
        if not one.is_baseline and one.row.status == "succeeded":
            st.markdown(f"{gain(one.row, {})}.")
            if edges := edges_line(loaders.experiment(one.id, loaders.version()).conformance):
                st.caption(plain(edges, 400))
        columns = [looked.columns[key] for key in FIGURES if key in looked.columns]
        with st.grid(4, min_column_width=200):
            for column in columns:
                _figure(column, one)
        _actions(looked, one)


def _figure(column: Column, one: Variant) -> None:
    value, *more = cells(column, [one], intervals=True)[0].split("  \n")
    with st.container(gap="xxsmall"):
        st.caption(plain(column.title), help=why(column.explains) if column.explains else None)
        st.markdown("  \n".join([f"**{value}**", *more]))


def _actions(looked: Compared, one: Variant) -> None:
    with st.container(horizontal=True, key="cm-card-actions", vertical_alignment="center"):
        st.page_link(
            "experiment.py", label="Open the run", icon=":material/arrow_forward:", query_params={"id": one.id}
        )
        if one.row.status == "succeeded" and not one.is_baseline:
            run = loaders.experiment(one.id, loaders.version())
            if can_be_certified(run):
                certify_action(looked.study, run, key="cm-card")
        st.page_link(
            "study.py", label="Use as a start", icon=":material/stairs:",
            query_params={"study": looked.study.id, "start": one.id},
        )  # fmt: skip
        chosen = view.value("chosen")
        if not one.is_baseline and one.id not in chosen and len(chosen) < view.MOST_CHOSEN:
            st.button(
                "Look closer", icon=":material/zoom_in:", key="cm-card-choose", on_click=_choose, args=(one.id,),
                help="Adds it to the slices and curves below.",
            )  # fmt: skip


def _choose(experiment_id: str) -> None:
    view.put("chosen", [*view.value("chosen"), experiment_id])
    view.touch()


def _close() -> None:
    st.button(
        "Close", icon=":material/close:", type="tertiary", key="cm-card-close", on_click=view.put, args=("card", None)
    )
