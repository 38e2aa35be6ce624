"""Three steps to a study: the model, the data, the promise. Nothing is lost by going back."""

import streamlit as st

from pages._ui.parts import head
from pages._ui.steps.data import data_step
from pages._ui.steps.model import model_step
from pages._ui.steps.promise import promise_step
from pages._ui.steps.state import STEP_KEY, STEPS, brought, start_over

DRAW = {"Model": model_step, "Data": data_step, "Promise": promise_step}

head("New study", "Three steps. Nothing is measured until you set the promise.")
state = brought()
st.session_state.setdefault(STEP_KEY, STEPS[0])
known = {"Model": state.model is not None, "Data": state.checked is not None, "Promise": False}
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
    if state.model or state.profile:
        st.button("Start over", type="tertiary", icon=":material/restart_alt:", key="ns-restart", on_click=start_over)
step = chosen or STEPS[0]
st.query_params["step"] = step
DRAW[step](state)
