"""Three steps to a study: the model, the data, the promise. Nothing is lost by going back, or by a reload."""

import streamlit as st

from pages._ui.new_study import drafts
from pages._ui.new_study.address import brought
from pages._ui.new_study.classes import confirmed
from pages._ui.new_study.data import data_step
from pages._ui.new_study.model import model_step
from pages._ui.new_study.promise import promise_step
from pages._ui.new_study.state import STEP_KEY, STEPS, Brought, start_over
from pages._ui.parts import head
from pages._ui.text import plain

DRAW = {"Model": model_step, "Data": data_step, "Promise": promise_step}


def missing(state: Brought) -> str:
    """What the study still waits for."""
    if state.model is None:
        return "Next: bring the model."
    if not state.has_data:
        return "Next: bring the evaluation rows."
    if state.matches is None:
        return "Next: say what the columns are, and check that they match the model."
    if not confirmed(state, state.matches):
        return "Next: confirm which label belongs to which score."
    return "Next: set the promise. Nothing else is missing."


head("New study", "Three steps. Nothing is measured until you set the promise.")
state = brought()
bound = state.matches
known = {"Model": state.model is not None, "Data": bound is not None and confirmed(state, bound), "Promise": False}
with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    chosen = st.segmented_control(
        "Step",
        STEPS,
        required=True,
        key=STEP_KEY,
        format_func=lambda name: (
            f":material/{'check' if known[name] else 'radio_button_unchecked'}: {STEPS.index(name) + 1}  {name}"
        ),
        label_visibility="collapsed",
        persist_state="session",
    )
    if state.model or state.has_data:
        st.button("Start over", type="tertiary", icon=":material/restart_alt:", key="ns-restart", on_click=start_over)
start = f" Started from the study {plain(state.from_study, 60)}." if state.from_study else ""
st.caption(f":material/flag: {missing(state)}{start}")
step = chosen or STEPS[0]
st.query_params["step"] = step
DRAW[step](state)
drafts.save(state)
