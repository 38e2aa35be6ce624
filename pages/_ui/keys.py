"""Which study and experiment the address bar names. Ids in the address are checked before anything is read."""

from __future__ import annotations

import re

import streamlit as st

from engine.errors import NotFound
from engine.records import Certificate, Experiment, Study
from pages._ui import loaders
from pages._ui.parts import empty, head, problem

_ID = re.compile(r"[0-9A-Za-z]{1,64}")
_LAST_STUDY = "last-study"


def study_or_stop(title: str) -> Study:
    """The study of `?study=`, else the one looked at last, else the newest; the address then names it.

    With no study at all, or an unknown id, the page says so under its title and ends here.
    """
    asked = st.query_params.get("study")
    found = loaders.studies(loaders.version())
    study_id = asked or st.session_state.get(_LAST_STUDY) or (found[0].id if found else None)
    if study_id is None:
        head(title)
        empty("science", "No studies yet", "Run a sample, or bring a model and an evaluation set.", _ways_in, key=title)
        st.stop()
    try:
        study = loaders.study(_checked(study_id), loaders.version())
    except NotFound:
        st.session_state.pop(_LAST_STUDY, None)
        _lost(title, "No study has the id in the address.", "choose a study in the overview.")
    st.session_state[_LAST_STUDY] = study.id
    if asked != study.id:
        st.query_params["study"] = study.id
    return study


def experiment_or_stop(title: str) -> Experiment:
    """The experiment of `?id=`; without one, or with an unknown one, the page says so and ends here."""
    asked = st.query_params.get("id", "")
    try:
        return loaders.experiment(_checked(asked), loaders.version())
    except NotFound:
        reason = "No experiment has the id in the address." if asked else "The address names no experiment."
        _lost(title, reason, "choose one in the history.")
        raise


def certificate_or_stop(title: str) -> Certificate:
    """The certificate of `?id=`; without one, or with an unknown one, the page says so and ends here."""
    asked = st.query_params.get("id", "")
    try:
        return loaders.certificate(_checked(asked), loaders.version())
    except NotFound:
        reason = "No certificate has the id in the address." if asked else "The address names no certificate."
        _lost(title, reason, "open one from the page of its study.")
        raise


def _checked(text: str) -> str:
    if not _ID.fullmatch(text):
        raise NotFound("not an id")
    return text


def _lost(title: str, reason: str, todo: str) -> None:
    head(title)
    problem(f"**{reason}**", todo)
    with st.container(horizontal=True):
        st.page_link("overview.py", label="Overview", icon=":material/home:")
        st.page_link("history.py", label="History", icon=":material/history:")
    st.stop()


def _ways_in() -> None:
    with st.container(horizontal=True, horizontal_alignment="center"):
        st.page_link("overview.py", label="Run a sample", icon=":material/play_arrow:")
        st.page_link("new_study.py", label="Bring my own model", icon=":material/upload:")
