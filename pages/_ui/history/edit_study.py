"""What may change about a study afterwards: its name, tags, note, and whether it is in the lists."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.errors import WhetstoneError
from engine.records import Study
from pages._ui import loaders
from pages._ui.notes import rename_form, study_note_form
from pages._ui.text import plain


@st.dialog("Edit the study", icon=":material/edit_note:", width="medium")
def edit_study(study: Study) -> None:
    """Name, tags, note, and whether it is in the lists."""
    rename_form(study, key="ov")
    study_note_form(study.id, key="ov")
    away = study.id in loaders.archived_studies(loaders.version())
    if st.button(
        "Restore" if away else "Archive", icon=":material/unarchive:" if away else ":material/inventory_2:",
        type="tertiary", key=f"ov-archive-{study.id}",
        help="It comes back to the lists." if away else "It leaves the lists, is kept, and can be restored.",
    ):  # fmt: skip
        archive([study.id], not away)
        st.rerun()


def archive(study_ids: Sequence[str], archived: bool) -> None:
    """Put studies away, or take them back, and say so."""
    try:
        loaders.ledger().archive_studies(study_ids, archived)
    except WhetstoneError as error:
        st.toast(plain(error, 300), icon=":material/error:")
        return
    one = len(study_ids) == 1
    where = "" if not archived else " They are below “Archived”." if not one else " It is below “Archived”."
    said = f"{'The study was' if one else f'{len(study_ids)} studies were'} {'archived' if archived else 'restored'}."
    st.toast(said + where, icon=":material/check:")
