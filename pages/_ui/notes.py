"""Tags, note and archive of one run. Two people who write at once: the second is told, and keeps what was typed."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from engine.errors import Conflict, WhetstoneError
from engine.records import Annotation
from pages._ui import loaders
from pages._ui.identity import current_user
from pages._ui.parts import problem, refusal
from pages._ui.text import plain

MAX_TAGS = 12


def note_form(experiment_id: str, *, key: str) -> None:
    """Fields with what is stored, and Save."""
    base_key = f"{key}-base-{experiment_id}"
    if base_key not in st.session_state:  # what the fields were filled from decides whether saving is a conflict
        st.session_state[base_key] = loaders.ledger().annotation(experiment_id)
    base: Annotation | None = st.session_state[base_key]
    tags = st.multiselect(
        "Tags",
        list(base.tags) if base else [],
        default=list(base.tags) if base else [],
        accept_new_options=True,
        max_selections=MAX_TAGS,
        key=f"{key}-tags-{experiment_id}",
        placeholder="Type a tag and press Enter",
    )
    note = st.text_area("Note", base.note if base else "", max_chars=4000, key=f"{key}-note-{experiment_id}", height=90)
    archived = st.toggle(
        "Archived",
        base.archived if base else False,
        key=f"{key}-archived-{experiment_id}",
        help="Archived runs are kept, and hidden from lists.",
    )
    if st.button("Save", icon=":material/save:", key=f"{key}-save-{experiment_id}"):
        new = Annotation(
            experiment_id=experiment_id, tags=tuple(tags), note=note, archived=archived, who=current_user(),
            when=datetime.now(UTC),
        )  # fmt: skip
        _save(new, base, base_key)


def _save(new: Annotation, base: Annotation | None, base_key: str) -> None:
    try:
        loaders.ledger().annotate(new, expected_when=base.when if base else None)
    except Conflict as error:
        stored = loaders.ledger().annotation(new.experiment_id)
        st.session_state[base_key] = stored
        theirs = f"Theirs: “{plain(stored.note, 400)}”" if stored and stored.note else ""
        problem(
            f"**{plain(error, 300)}**  \n{theirs}", "yours is still in the field; add theirs if needed and save again."
        )
    except WhetstoneError as error:
        refusal(error)
    else:
        st.session_state[base_key] = new
        st.toast("Saved.", icon=":material/check:")
        st.rerun()
