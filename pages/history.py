"""Every run of every study: find, open, tag, annotate, archive, compare."""

import streamlit as st

from pages._ui import loaders
from pages._ui.history.filters import clear, filter_bar
from pages._ui.history.index import Line, choices, found, grid, lines
from pages._ui.history.runs import actions, run_table
from pages._ui.history.studies import study_view
from pages._ui.notes import note_form
from pages._ui.parts import card_title, empty, head, nothing_found
from pages._ui.text import plain

VIEWS = {"runs": "Runs", "studies": "Studies"}


def first_steps() -> None:
    """The ways to a first run."""
    with st.container(horizontal=True, horizontal_alignment="center"):
        st.page_link("overview.py", label="Run a sample", icon=":material/play_arrow:")
        st.page_link("new_study.py", label="Bring my own model", icon=":material/upload:")


def opened(line: Line) -> None:
    """The one run that is ticked."""
    with st.container(border=True, key="hi-card"):
        card_title(plain(line.name, 90))
        with st.container(horizontal=True):
            st.page_link(
                "experiment.py",
                label="Open the run",
                icon=":material/arrow_forward:",
                query_params={"id": line.run.id},
            )
            st.page_link(
                "study.py",
                label="Use as a start",
                icon=":material/stairs:",
                query_params={"study": line.study.id, "start": line.run.id},
            )
        note_form(line.run.id, key="hi")


head("History", "Everything that was run.")
seen = loaders.version()
every = lines(seen)
if not every:
    empty("history", "Nothing was run yet", "Runs appear here as soon as a study exists.", first_steps, key="hi")
    st.stop()
top = st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key="hi-top")
view = top.segmented_control(
    "View", list(VIEWS), format_func=lambda one: VIEWS[one], default="runs", required=True, key="pick-hi-view",
    label_visibility="collapsed", persist_state="session",
)  # fmt: skip
if view == "studies":
    study_view(seen, top)
    st.stop()
moving = {state.experiment_id: state.status for state in loaders.active_jobs(None)}
wanted = filter_bar(choices(seen), top)
shown = found(every, wanted, moving)
bar = st.container(horizontal=True, vertical_alignment="center", key="hi-bar")
picked: list[Line] = []
if shown:
    ids = [every[position].run.id for position in shown]
    picked = [every[shown[row]] for row in run_table(grid(seen).take(shown), ids, moving)]
else:
    nothing_found("runs", clear, key="hi")
with bar:
    of = "" if len(shown) == len(every) else f" of {len(every):,}"
    runs = "run" if len(every) == 1 else "runs"
    text = f"**{len(picked):,} of {len(shown):,} ticked**" if picked else f"{len(shown):,}{of} {runs}"
    st.markdown(text, width="content")
    actions(picked)
if len(picked) == 1:
    opened(picked[0])
