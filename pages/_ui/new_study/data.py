"""Step 2: bring the evaluation set, say what each column is, and see that it belongs to the model."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from engine.data.profile import TableProfile
from engine.intake import load_profile, read_table
from engine.settings import settings
from pages._ui import uploads
from pages._ui.new_study.answers import answers_form
from pages._ui.new_study.bring import bring
from pages._ui.new_study.check import check, onward
from pages._ui.new_study.columns import columns_editor, preview, reading_form
from pages._ui.new_study.known import KnownData, known_data
from pages._ui.new_study.mapping import mapping_card
from pages._ui.new_study.match import match_card
from pages._ui.new_study.roles import ABOUT_COLUMNS, as_roles
from pages._ui.new_study.state import Brought, go_to, workspace
from pages._ui.parts import card_title
from pages._ui.text import plain
from sample_models import samples

REPLACE = "ns-data-replace"


def data_step(state: Brought) -> None:
    """Ask for the data; once it was read: preview, roles, outputs, and the check that it fits the model."""
    if state.model is None:
        st.markdown("Bring the model first: the columns are matched to its inputs.")
        st.button(
            "Go to the model", icon=":material/arrow_back:", key="ns-data-missing", on_click=go_to, args=("Model",)
        )
        return
    if not state.has_data or st.session_state.get(REPLACE):
        _ask(state)
        return
    if state.profile is None:
        _of_a_study(state)
        return
    with st.container(border=True, key="ns-data-card"):
        card_title(plain(state.data_name, 60), lambda: reading_form(state))
        preview(state.profile)
        _another_file()
    with st.container(border=True, key="ns-roles-card"):
        card_title("What each column is")
        columns_editor(state)
    problem = mapping_card(state)
    with st.container(border=True, key="ns-answers-card"):
        card_title("What the model answers")
        answers_form(state)
    _training_rows(state)
    check(state, problem)


def _ask(state: Brought) -> None:
    assert state.model is not None
    with st.container(border=True, key="ns-data-form"):
        card_title("Which evaluation rows?")
        st.markdown(
            "CSV, Parquet, Feather or NPZ: rows the model was not trained on, with the truth in one column. "
            "Scaling, one-hot encoding and tokenising belong inside the model or before the upload: never guessed here."
        )

        def take(path: Path, name: str) -> None:
            table_id, profile = read_table(path, name, workspace())
            sample = samples().get(state.fields.pop("ns-sample", ""))
            said = dict(sample.choices) if sample and sample.data == path else state.said
            if state.data_file and state.data_file != path:
                uploads.forget(state.data_file, settings().home)
            _take_up(state, table_id, profile, name, said)
            state.data_file = path

        def use(known: KnownData) -> None:
            assert known.study.source is not None
            said = known.study.source.choices
            if state.model is None or known.study.model_id != state.model.id:
                said = {field: value for field, value in said.items() if field in ABOUT_COLUMNS}
            _take_up(state, known.table_id, load_profile(known.table_id, workspace()), known.name, said)
            state.data_file = None

        bring("Evaluation set", "ns-data", take, lambda: known_data(state, take, use))
        if state.has_data:
            name = plain(state.data_name, 60)
            st.button(f"Keep {name}", icon=":material/undo:", key="ns-data-keep", on_click=_replace, args=(False,))


def _take_up(state: Brought, table_id: str, profile: TableProfile, name: str, said: dict[str, object]) -> None:
    """Other rows; what was said about columns that they have too stays."""
    assert state.model is not None
    kept = {field: value for field, value in said.items() if field not in ("encoding", "separator")}
    state.table_id, state.profile, state.data_name = table_id, profile, name
    state.said = as_roles(kept, profile, state.model.signature)
    _replace(False)


def _of_a_study(state: Brought) -> None:
    """Rows that another study bound; the file they came from is not known here."""
    bound = state.matches
    assert bound is not None
    with st.container(border=True, key="ns-data-card"):
        card_title(plain(state.data_name, 60))
        st.caption(
            f"{bound.info.n_rows:,} rows, bound and split as in the study before. Their file was not remembered then: "
            "to change what the columns are, bring it again."
        )
        _another_file()
    match_card(bound)
    onward(state, bound)


def _another_file() -> None:
    st.button(
        "Bring another file",
        type="tertiary",
        icon=":material/swap_horiz:",
        key="ns-data-again",
        on_click=_replace,
        args=(True,),
    )


def _replace(wanted: bool) -> None:
    st.session_state[REPLACE] = wanted


def _training_rows(state: Brought) -> None:
    with st.expander("More rows for training levers (optional)", icon=":material/playlist_add:", key="ns-train-box"):
        if state.train_table_id:
            st.markdown(f"**{plain(state.train_name, 60)}** is used by levers that learn, and for nothing else.")
            if st.button("Take it out", type="tertiary", icon=":material/close:", key="ns-train-out"):
                state.train_table_id, state.train_name = None, ""
                st.rerun()
            return
        st.markdown(
            "Rows in the same columns, for levers that need data to learn from. Quality is never judged on them; rows "
            "that are evaluation rows too are refused."
        )

        def take(path: Path, name: str) -> None:
            state.train_table_id, _ = read_table(path, name, workspace())
            state.train_name = name
            uploads.forget(path, settings().home)

        bring("Training rows", "ns-train", take)
