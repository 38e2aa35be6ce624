"""The address of the page: which draft it is, and where a new one starts."""

from __future__ import annotations

import re

import streamlit as st

from engine.errors import NotFound
from engine.intake import load_profile
from pages._ui.new_study import drafts
from pages._ui.new_study.state import STATE, STEP_KEY, STEPS, Brought, begin, workspace
from pages._ui.parts import problem

_ID = re.compile(r"[0-9A-Za-z]{1,64}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def brought() -> Brought:
    """This session's state; at first what the address names: a study to start from, a draft, or a model and data."""
    if asked := st.query_params.get("from"):
        del st.query_params["from"]
        try:
            begin(drafts.from_study(asked if _ID.fullmatch(asked) else ""))
        except NotFound:
            begin(Brought())
            said = "**No study has the id in the address**, or its files are not on this machine."
            problem(said, "choose another one under “Known here”, or bring a model.")
    elif STATE not in st.session_state:
        begin(drafts.saved(st.query_params.get("draft", "")) or _from_address())
        if (step := st.query_params.get("step")) in STEPS:
            st.session_state[STEP_KEY] = step
    state: Brought = st.session_state[STATE]
    _write(state)
    return state


def _write(state: Brought) -> None:
    ids = {
        "model": state.model.id if state.model else None,
        "data": state.table_id,
        "draft": state.draft_id if state.model or state.has_data else None,
    }
    for name, value in ids.items():
        if value and st.query_params.get(name) != value:
            st.query_params[name] = value
        elif not value and name in st.query_params:
            del st.query_params[name]


def _from_address() -> Brought:
    state = Brought()
    asked = {name: st.query_params.get(name, "") for name in ("model", "data")}
    if _DIGEST.fullmatch(asked["model"]):
        state.model = workspace().load_manifest(f"upload-{asked['model']}")
        state.model_name = f"Model {asked['model'][:12]}"
    if _DIGEST.fullmatch(asked["data"]):
        try:
            state.profile = load_profile(asked["data"], workspace())
        except NotFound:
            return state
        state.table_id, state.data_name = asked["data"], f"Data {asked['data'][:12]}"
    return state
