"""Tags and a note on a run or a study, and the name of a study.

Two people who write at once: the second sees both texts, and loses none.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import streamlit as st

from engine.errors import Conflict, WhetstoneError
from engine.records import Annotation, Study, StudyAnnotation
from pages._ui import loaders
from pages._ui.identity import current_user
from pages._ui.parts import problem, refusal
from pages._ui.text import plain

MAX_TAGS, MAX_NOTE = 24, 20_000
Note = Annotation | StudyAnnotation


def note_form(experiment_id: str, *, key: str) -> None:
    """The note of a run."""

    def made(base: Note | None, tags: tuple[str, ...], note: str) -> Annotation:
        old = base if isinstance(base, Annotation) else None
        return Annotation(
            experiment_id=experiment_id, tags=tags, note=note, archived=old.archived if old else False,
            who=current_user(), when=datetime.now(UTC),
        )  # fmt: skip

    _form(experiment_id, made, lambda: loaders.ledger().annotation(experiment_id), _save_run, key)


def study_note_form(study_id: str, *, key: str) -> None:
    """The note of a study."""

    def made(base: Note | None, tags: tuple[str, ...], note: str) -> StudyAnnotation:
        old = base if isinstance(base, StudyAnnotation) else None
        return StudyAnnotation(
            study_id=study_id, tags=tags, note=note, request_ms=old.request_ms if old else None,
            who=current_user(), when=datetime.now(UTC),
        )  # fmt: skip

    _form(study_id, made, lambda: loaders.ledger().study_annotation(study_id), _save_study, key)


def rename_form(study: Study, *, key: str) -> None:
    """The name of a study; the frozen promise does not hold it, so it may change."""
    base_key, name_key = f"{key}-was-{study.id}", f"{key}-name-{study.id}"
    if base_key not in st.session_state or st.session_state.get(name_key, study.name) == st.session_state[base_key]:
        st.session_state[base_key] = st.session_state[name_key] = study.name
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Name of the study", max_chars=200, key=name_key, width=420)
        if not st.button("Rename", icon=":material/edit:", key=f"{key}-rename-{study.id}"):
            return
    try:
        made = loaders.ledger().rename_study(study.id, st.session_state[name_key], st.session_state[base_key])
    except WhetstoneError as error:
        if isinstance(error, Conflict):
            st.session_state[base_key] = loaders.ledger().study(study.id).name
        refusal(error)
        return
    st.session_state[base_key] = made.name
    st.toast("Renamed.", icon=":material/check:")
    st.rerun()


def _save_run(new: Note, expected: datetime | None) -> None:
    assert isinstance(new, Annotation)
    loaders.ledger().annotate(new, expected_when=expected)


def _save_study(new: Note, expected: datetime | None) -> None:
    assert isinstance(new, StudyAnnotation)
    loaders.ledger().annotate_study(new, expected_when=expected)


def _form(
    of: str,
    made: Callable[[Note | None, tuple[str, ...], str], Note],
    stored: Callable[[], Note | None],
    save: Callable[[Note, datetime | None], None],
    key: str,
) -> None:
    """Fields with what is stored, and Save. What they were filled from decides whether saving is a conflict."""
    base_key, theirs_key = f"{key}-base-{of}", f"{key}-theirs-{of}"
    tags_key, note_key = f"{key}-tags-{of}", f"{key}-note-{of}"
    state = st.session_state
    filled = {base_key, tags_key, note_key} <= set(state)
    if not filled or _untouched(state[base_key], state[tags_key], state[note_key]):
        state[base_key] = stored()
        state[tags_key], state[note_key] = _fields(state[base_key])
    base: Note | None = state[base_key]
    st.multiselect(
        "Tags", list(dict.fromkeys([*_fields(base)[0], *(state[tags_key] or ())])), accept_new_options=True,
        max_selections=MAX_TAGS, key=tags_key, placeholder="Type a tag and press Enter", persist_state="session",
    )  # fmt: skip
    st.text_area("Note", max_chars=MAX_NOTE, key=note_key, height=90, persist_state="session")
    asked = st.button("Save", icon=":material/save:", key=f"{key}-save-{of}")
    if asked:
        new = made(base, tuple(state[tags_key] or ()), state[note_key] or "")
        try:
            save(new, base.when if base else None)
        except Conflict as error:
            state[base_key] = state[theirs_key] = stored()
            problem(f"**{plain(error, 300)}**", "yours is still in the field, theirs is below it. Save yours, or both.")
        except WhetstoneError as error:
            refusal(error)
        else:
            state[base_key] = new
            state.pop(theirs_key, None)
            st.toast("Saved.", icon=":material/check:")
            st.rerun()
    theirs: Note | None = state.get(theirs_key)
    if theirs is not None:
        _both(theirs, tags_key, note_key, theirs_key, key)


def _both(theirs: Note, tags_key: str, note_key: str, theirs_key: str, key: str) -> None:
    """What the other one wrote, until it is settled."""
    with st.container(border=True, gap="small", key=f"{key}-theirs"):
        tags = f" Tags: {plain(', '.join(theirs.tags), 300)}." if theirs.tags else ""
        st.markdown(f"**What {plain(theirs.who, 40)} saved at {theirs.when:%H:%M} UTC.**{tags}")
        st.code(theirs.note or "(no note)", language=None, wrap_lines=True)
        with st.container(horizontal=True):
            st.button(
                "Put both in the field", icon=":material/merge:", key=f"{key}-both",
                on_click=_merge, args=(theirs, tags_key, note_key, theirs_key),
                help="Theirs first, then yours, with the tags of both. Nothing is saved before you press Save.",
            )  # fmt: skip
            st.button(
                "Take theirs", type="tertiary", key=f"{key}-take", on_click=_take,
                args=(theirs, tags_key, note_key, theirs_key), help="Yours leaves the field; theirs is saved already.",
            )  # fmt: skip


def _merge(theirs: Note, tags_key: str, note_key: str, theirs_key: str) -> None:
    mine = st.session_state[note_key] or ""
    parts = [theirs.note, mine] if mine not in theirs.note else [theirs.note]
    note = "\n\n".join(part for part in parts if part)
    tags = list(dict.fromkeys([*theirs.tags, *st.session_state[tags_key]]))
    if len(note) > MAX_NOTE or len(tags) > MAX_TAGS:
        st.toast("Together they are too long; shorten yours first.", icon=":material/error:")
        return
    st.session_state[note_key], st.session_state[tags_key] = note, tags
    st.session_state.pop(theirs_key, None)


def _take(theirs: Note, tags_key: str, note_key: str, theirs_key: str) -> None:
    st.session_state[tags_key], st.session_state[note_key] = _fields(theirs)
    st.session_state.pop(theirs_key, None)


def _fields(base: Note | None) -> tuple[list[str], str]:
    return (list(base.tags), base.note) if base else ([], "")


def _untouched(base: Note | None, tags: list[str] | None, note: str | None) -> bool:
    """True where the fields say what they were filled with; then they may follow what others save."""
    return (list(tags or ()), note or "") == _fields(base)
