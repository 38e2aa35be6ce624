"""What a person has brought so far: kept in the session, and by `drafts.py` over reloads and days."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from engine.data.choices import DataChoices
from engine.data.profile import TableProfile
from engine.records import Manifest
from engine.settings import settings
from engine.study import Bound, StudyRequest
from engine.workspace import Workspace

STEPS = ("Model", "Data", "Promise")
STEP_KEY = "pick-ns-step"
STATE = "ns-brought"
ROLES_DRAWN = "ns-roles-drawn"
CONFIRMED = "ns-classes-ok"  # of `fields`: the classes whose order somebody has confirmed


@dataclass
class Brought:
    """The model, the data and what was said about them."""

    draft_id: str = field(default_factory=lambda: secrets.token_hex(6))
    model: Manifest | None = None
    model_name: str = ""
    table_id: str | None = None
    profile: TableProfile | None = None
    data_name: str = ""
    data_file: Path | None = None  # kept until the study exists, to read it again in another encoding
    train_table_id: str | None = None
    train_name: str = ""
    said: dict[str, Any] = field(default_factory=dict)  # fields of DataChoices that differ from the guess
    fields: dict[str, Any] = field(default_factory=dict)  # what was typed on the page, by the key of its widget
    bound: tuple[str, Bound] | None = None  # (fingerprint of what was bound, what came out)
    from_study: str | None = None  # name of the study this one starts from
    study_id: str | None = None  # set in the moment the study exists: a double click must not make a second one

    def request(self, **more: Any) -> StudyRequest:
        """What was brought, as the engine takes it."""
        assert self.model is not None
        return StudyRequest(
            **{"name": "draft", **more},
            model_id=self.model.id,
            table_id=self.table_id,
            data_name=self.data_name,
            train_table_id=self.train_table_id,
            train_name=self.train_name,
            choices=self.choices,
        )

    @property
    def choices(self) -> DataChoices:
        """What was said about the data, as the engine takes it."""
        return DataChoices(**self.said)

    @property
    def has_data(self) -> bool:
        """Rows were brought, or those of another study are used."""
        return self.profile is not None or self.matches is not None

    @property
    def matches(self) -> Bound | None:
        """What binding gave, as long as nothing was changed since."""
        if self.model is None or self.bound is None or self.bound[0] != self.request().fingerprint:
            return None
        return self.bound[1]


def begin(state: Brought) -> None:
    """Put another draft on the table; the one before stays saved."""
    for key in [key for key in st.session_state if str(key).startswith(("ns-", "pick-ns-"))]:
        del st.session_state[key]
    st.session_state[STATE] = state
    if not state.model:
        st.session_state[STEP_KEY] = "Model"
    else:
        st.session_state[STEP_KEY] = "Promise" if state.matches else "Data"


def start_over() -> None:
    """Callback: an empty draft."""
    begin(Brought())


def go_to(step: str) -> None:
    """Callback of Back and Continue buttons."""
    st.session_state[STEP_KEY] = step


def redraw_roles() -> None:
    """Roles were changed elsewhere: the table of columns starts anew from what is said now."""
    st.session_state[ROLES_DRAWN] = st.session_state.get(ROLES_DRAWN, 0) + 1


def workspace() -> Workspace:
    """The files of this home."""
    return Workspace(settings().home)
