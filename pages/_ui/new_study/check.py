"""The check that data and model belong together, and what came of it."""

from __future__ import annotations

import streamlit as st

from engine.errors import WhetstoneError
from engine.study import Bound, bind
from pages._ui.new_study.classes import CHECK_NOW, classes_card, confirmed
from pages._ui.new_study.hints import on_page
from pages._ui.new_study.mapping import problem_line
from pages._ui.new_study.match import census_of, match_card
from pages._ui.new_study.state import Brought, go_to, workspace
from pages._ui.parts import refusal


def check(state: Brought, problem: str | None) -> None:
    """Bind and run the first rows when asked; what came of it, as long as nothing was changed since.

    problem: what keeps the data from being bound.
    """
    if state.matches is not None and problem is None:
        match_card(state.matches)
        classes_card(state, state.matches, census_of(state.matches))
        onward(state, state.matches)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        go = st.button(
            "Check that they match",
            type="primary",
            icon=":material/fact_check:",
            key="ns-check",
            disabled=problem is not None,
        )
        if problem is None:
            st.caption(
                "Binds the columns to the model's inputs and runs the first rows. Takes a few seconds.", width="content"
            )
    problem_line(problem)
    if not (go or st.session_state.pop(CHECK_NOW, False)) or problem:
        return
    request = state.request()
    try:
        with st.spinner("Binding the data to the model, running the first rows"):
            bound = bind(request, workspace())
            state.bound = (request.fingerprint, bound)
            census_of(bound)
    except WhetstoneError as error:
        todo = "change the columns above, or bring another file."
        refusal(on_page(error), todo, lead="**The model and the data do not match yet.**  \n")
        return
    st.rerun()


def onward(state: Brought, bound: Bound) -> None:
    """The way to the next step, once nothing waits for a word."""
    sure = confirmed(state, bound)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Continue to the promise", type="primary", icon=":material/arrow_forward:", key="ns-data-next",
            on_click=go_to, args=("Promise",), disabled=not sure,
        )  # fmt: skip
        if not sure:
            st.caption("Confirm which label belongs to which score first.", width="content")
