"""Step 2: bring the evaluation set, say what each column is, and see that it belongs to the model."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from engine.data.choices import DataChoices
from engine.errors import WhetstoneError
from engine.intake import read_table
from engine.settings import settings
from engine.study import StudyRequest, create
from pages._ui import uploads
from pages._ui.bring import bring
from pages._ui.parts import card_title, refusal
from pages._ui.steps.answers import answers_form
from pages._ui.steps.columns import columns_editor, preview, reading_form
from pages._ui.steps.match import match_card
from pages._ui.steps.state import Brought, go_to, workspace
from pages._ui.text import plain


def data_step(state: Brought) -> None:
    """Ask for the data; once it was read: preview, roles, outputs, and the check that it fits the model."""
    if state.model is None:
        st.markdown("Bring the model first: the columns are matched to its inputs.")
        st.button(
            "Go to the model", icon=":material/arrow_back:", key="ns-data-missing", on_click=go_to, args=("Model",)
        )
        return
    if state.profile is None:
        _ask(state)
        return
    with st.container(border=True, key="ns-data-card"):
        card_title(plain(state.data_name, 60), lambda: reading_form(state))
        preview(state.profile)
        st.button(
            "Bring another file",
            type="tertiary",
            icon=":material/swap_horiz:",
            key="ns-data-again",
            on_click=_again,
            args=(state,),
        )
    with st.container(border=True, key="ns-roles-card"):
        card_title("What each column is")
        columns_editor(state)
    with st.container(border=True, key="ns-answers-card"):
        card_title("What the model answers")
        answers_form(state)
    _training_rows(state)
    _check(state)


def choices(state: Brought) -> DataChoices:
    """What was said so far, as the engine takes it."""
    return DataChoices(**state.said)


def _ask(state: Brought) -> None:
    with st.container(border=True, key="ns-data-form"):
        card_title("Which evaluation rows?")
        st.markdown(
            "CSV, Parquet, Feather or NPZ: rows the model was not trained on, with the truth in one column. "
            "Scaling, one-hot encoding and tokenising belong inside the model or before the upload: never guessed here."
        )

        def take(path: Path, name: str) -> None:
            state.table_id, state.profile = read_table(path, name, workspace())
            state.data_name, state.data_file = name, path
            state.said.clear()
            state.forget_check()

        bring("Evaluation set", "ns-data", take)


def _again(state: Brought) -> None:
    if state.data_file:
        uploads.forget(state.data_file, settings().home)
    state.table_id = state.profile = state.data_file = None
    state.forget_check()
    st.query_params.pop("data", None)


def _training_rows(state: Brought) -> None:
    with st.expander("More rows for training levers (optional)", icon=":material/playlist_add:", key="ns-train-box"):
        if state.train_table_id:
            st.markdown(f"**{plain(state.train_name, 60)}** is used by levers that learn, and for nothing else.")
            return
        st.markdown(
            "Rows in the same columns, for levers that need data to learn from. Quality is never judged on them."
        )

        def take(path: Path, name: str) -> None:
            state.train_table_id, _ = read_table(path, name, workspace())
            state.train_name = name
            state.forget_check()
            uploads.forget(path, settings().home)

        bring("Training rows", "ns-train", take)


def _check(state: Brought) -> None:
    assert state.model is not None
    assert state.table_id is not None
    request = StudyRequest(
        name="check",
        model_id=state.model.id,
        table_id=state.table_id,
        train_table_id=state.train_table_id,
        choices=choices(state),
    )
    if state.checked and state.checked[0] == request.fingerprint:
        match_card(state)
        st.button(
            "Continue to the promise", type="primary", icon=":material/arrow_forward:", key="ns-data-next",
            on_click=go_to, args=("Promise",),
        )  # fmt: skip
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        go = st.button("Check that they match", type="primary", icon=":material/fact_check:", key="ns-check")
        st.caption(
            "Binds the columns to the model's inputs and runs the first rows. Takes a few seconds.", width="content"
        )
    if not go:
        return
    try:
        with st.spinner("Binding the data to the model"):
            state.checked = (request.fingerprint, *create(request, workspace()))
    except WhetstoneError as error:
        todo = "change the columns above, or bring another file."
        refusal(error, todo, lead="**The model and the data do not match yet.**  \n")
        return
    st.rerun()
