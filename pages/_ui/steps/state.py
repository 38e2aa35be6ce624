"""What a person has brought so far. Kept in the session; the ids also in the address, so that a reload keeps them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from engine.data.profile import TableProfile
from engine.errors import NotFound
from engine.intake import load_profile
from engine.records import EvalSetInfo, Manifest, Study
from engine.settings import settings
from engine.workspace import Workspace
from pages._ui import uploads

STEPS = ("Model", "Data", "Promise")
STEP_KEY = "pick-ns-step"
_STATE = "ns-brought"
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass
class Brought:
    """The model, the data and what was said about them."""

    model: Manifest | None = None
    model_name: str = ""
    table_id: str | None = None
    profile: TableProfile | None = None
    data_name: str = ""
    data_file: Path | None = None  # kept until the study exists, to read it again in another encoding
    train_table_id: str | None = None
    train_name: str = ""
    said: dict[str, Any] = field(default_factory=dict)  # fields of DataChoices that differ from the guess
    study_id: str | None = None  # set in the moment the study exists: a double click must not make a second one
    checked: tuple[str, Study, EvalSetInfo] | None = None  # (fingerprint of what was bound, what came out)

    def forget_check(self) -> None:
        """Something changed: what was bound before no longer counts."""
        self.checked = None


def brought() -> Brought:
    """This session's state; after a reload the model and the data named in the address."""
    if _STATE not in st.session_state:
        st.session_state[_STATE] = _from_address()
        if (step := st.query_params.get("step")) in STEPS:
            st.session_state.setdefault(STEP_KEY, step)
    state: Brought = st.session_state[_STATE]
    for name, value in (("model", state.model and state.model.id), ("data", state.table_id)):
        if value and st.query_params.get(name) != value:
            st.query_params[name] = value
    return state


def start_over() -> None:
    """Forget everything of this draft: the study exists now, or the person wants to begin again."""
    state: Brought | None = st.session_state.pop(_STATE, None)
    if state and state.data_file:
        uploads.forget(state.data_file, settings().home)
    for key in [key for key in st.session_state if str(key).startswith(("ns-", STEP_KEY))]:
        del st.session_state[key]


def go_to(step: str) -> None:
    """Callback of Back and Continue buttons."""
    st.session_state[STEP_KEY] = step


def workspace() -> Workspace:
    """The files of this home."""
    return Workspace(settings().home)


def _from_address() -> Brought:
    state = Brought()
    asked = {name: st.query_params.get(name, "") for name in ("model", "data")}
    files = workspace()
    if _DIGEST.fullmatch(asked["model"]):
        state.model = files.load_manifest(f"upload-{asked['model']}")
        state.model_name = f"Model {asked['model'][:12]}"
    if _DIGEST.fullmatch(asked["data"]):
        try:
            state.profile = load_profile(asked["data"], files)
        except NotFound:
            return state
        state.table_id, state.data_name = asked["data"], f"Data {asked['data'][:12]}"
    return state
