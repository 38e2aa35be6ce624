"""Every run of every study: find, open, tag, annotate, archive."""

import streamlit as st

from pages._ui import loaders
from pages._ui.notes import note_form
from pages._ui.parts import STATUS, card_title, empty, head, nothing_found
from pages._ui.run_list import filtered, run_table
from pages._ui.text import plain

FILTERS = ("hi-q", "pick-hi-status", "hi-archived")


def clear() -> None:
    """Callback: show everything again."""
    for key in FILTERS:
        st.session_state.pop(key, None)


def first_steps() -> None:
    """The ways to a first run."""
    with st.container(horizontal=True, horizontal_alignment="center"):
        st.page_link("overview.py", label="Run a sample", icon=":material/play_arrow:")
        st.page_link("new_study.py", label="Bring my own model", icon=":material/upload:")


head("History", "Everything that was run, newest first.")
rows = loaders.summaries(None, loaders.version())
if not rows:
    empty("history", "Nothing was run yet", "Runs appear here as soon as a study exists.", first_steps, key="hi")
    st.stop()

with st.container(horizontal=True, vertical_alignment="center"):
    text = st.text_input(
        "Search",
        placeholder="Search name, study, tag, note, person",
        label_visibility="collapsed",
        icon=":material/search:",
        width=320,
        key="hi-q",
        persist_state="session",
    )
    chosen = st.pills(
        "Status",
        list(STATUS),
        format_func=lambda status: STATUS[status],
        selection_mode="multi",
        label_visibility="collapsed",
        key="pick-hi-status",
        persist_state="session",
    )
    archived = st.toggle("Archived too", key="hi-archived", persist_state="session")

names = {study.id: study.name for study in loaders.studies(loaders.version())}
shown = filtered(rows, names, text=text or "", statuses=chosen or [], archived=archived)
if not shown:
    nothing_found("runs", clear, key="hi")
    st.stop()
picked = run_table(shown, key="hi-table")
if picked is None:
    st.caption("Tick a row to open it, or to write tags and a note.")
    st.stop()
with st.container(border=True, key="hi-card"):
    card_title(plain(picked["name"], 90))
    with st.container(horizontal=True):
        query = {"id": picked["experiment_id"]}
        st.page_link("experiment.py", label="Open the run", icon=":material/arrow_forward:", query_params=query)
        st.page_link(
            "compare.py",
            label="Compare its study",
            icon=":material/compare_arrows:",
            query_params={"study": picked["study_id"]},
        )
    note_form(picked["experiment_id"], key="hi")
