"""Drafts of new studies, saved for the person who looks: a reload, or tomorrow's visit, finds everything again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import streamlit as st
from pydantic import Field, ValidationError

from engine.data.choices import DataChoices
from engine.data.profile import TableProfile
from engine.data.stored import load_info
from engine.errors import NotFound
from engine.first_look import FirstLook
from engine.intake import load_profile
from engine.records import Record, Signature, Study
from engine.study import Bound, bound_before
from pages._ui import loaders
from pages._ui.identity import current_user
from pages._ui.new_study.roles import as_roles
from pages._ui.new_study.state import CONFIRMED, STEP_KEY, Brought, begin, workspace

PREFIX = "new-study-draft-"  # a preference of its own per draft: two tabs do not overwrite each other
MOST_DRAFTS = 5
_SAVED = "ns-saved"


class Draft(Record):
    """One draft. What lies in the workspace is named, not copied."""

    id: str
    saved_at: datetime
    step: str = "Model"
    model_id: str | None = None
    model_name: str = ""
    table_id: str | None = None
    data_name: str = ""
    data_file: str | None = None
    train_table_id: str | None = None
    train_name: str = ""
    said: dict[str, Any] = Field(default_factory=dict)
    fields: dict[str, Any] = Field(default_factory=dict)
    from_study: str | None = None
    bound_for: str | None = Field(None, description="Fingerprint of the request that was bound.")
    eval_set_id: str | None = None
    signature: Signature | None = None
    first_look: FirstLook | None = None

    @property
    def title(self) -> str:
        """'model.txt with rows.csv'."""
        parts = [name for name in (self.model_name, self.data_name) if name]
        return " with ".join(parts) or "an empty draft"


def drafts() -> list[Draft]:
    """The saved drafts of this person, the newest first; what an older release wrote otherwise is left out."""
    found = []
    for name, document in loaders.ledger().preferences(current_user()).items():
        if name.startswith(PREFIX):
            try:
                found.append(Draft.model_validate(document))
            except ValidationError:
                continue
    return sorted(found, key=lambda one: one.saved_at, reverse=True)


def save(state: Brought) -> None:
    """Keep this draft; nothing is written when nothing changed, or nothing was brought."""
    if state.model is None and not state.has_data:
        return
    document = _draft_of(state).model_dump(mode="json")
    timeless = {name: value for name, value in document.items() if name != "saved_at"}
    if st.session_state.get(_SAVED) == timeless:
        return
    loaders.ledger().set_preference(current_user(), PREFIX + state.draft_id, document)
    st.session_state[_SAVED] = timeless
    for old in drafts()[MOST_DRAFTS:]:
        forget(old.id)


def forget(draft_id: str) -> None:
    """Take a draft out of the list: it became a study, or nobody wants it."""
    loaders.ledger().set_preference(current_user(), PREFIX + draft_id, None)
    st.session_state.pop(_SAVED, None)


def saved(draft_id: str) -> Brought | None:
    """The state that was saved under this id, with what is still in the workspace."""
    draft = next((one for one in drafts() if one.id == draft_id), None)
    return _state_of(draft) if draft is not None else None


def from_study(ref: str) -> Brought:
    """A draft with everything of another study: its model, its evaluation set and its promise, all to be changed.

    Raises NotFound, also where its files lie elsewhere.
    """
    study = loaders.study(ref, loaders.version())
    manifest, model_name = loaders.model(study.model_id, loaders.version())
    state = Brought(model=manifest, model_name=model_name, from_study=study.name, fields=_fields_of(study))
    if study.source is not None:
        state.table_id, state.data_name = study.source.table_id, study.source.data_name
        state.train_table_id, state.train_name = study.source.train_table_id, study.source.train_name
        state.profile = _profile(state.table_id)
        if state.profile is not None:
            state.said = as_roles(study.source.choices, state.profile, manifest.signature)
    if state.profile is None:
        state.table_id = state.train_table_id = None
        state.data_name = state.data_name or f"Rows of {study.name}"
    state.bound = (state.request().fingerprint, bound_before(study, workspace()))
    return state


def _fields_of(study: Study) -> dict[str, Any]:
    goal, band = study.promise.goal, study.promise.band
    return {
        CONFIRMED: list(study.signature.classes or ()),
        "ns-name": f"{study.name} (2)"[:200],
        "ns-goal": goal.kind,
        "ns-factor": goal.factor,
        "ns-metric": band.metric or "auto",
        "ns-tau": band.tau or 0.5,
        "ns-drop": band.max_drop * 100,
        "ns-slice-drop": band.slice_max_drop * 100,
        "ns-slices": list(band.slices),
        "ns-all-slices": band.require_all_slices,
        "ns-certificates": band.n_certificates,
        "ns-batch": study.workload.batch_size,
        "ns-threads": study.workload.threads,
        "ns-price": study.price_per_hour,
        "ns-currency": study.currency,
    }


def _draft_of(state: Brought) -> Draft:
    bound = state.bound[1] if state.bound else None
    return Draft(
        id=state.draft_id,
        saved_at=datetime.now(UTC),
        step=str(st.session_state.get(STEP_KEY, "Model")),
        model_id=state.model.id if state.model else None,
        model_name=state.model_name,
        table_id=state.table_id,
        data_name=state.data_name,
        data_file=str(state.data_file) if state.data_file else None,
        train_table_id=state.train_table_id,
        train_name=state.train_name,
        said=DataChoices(**state.said).model_dump(mode="json", exclude_defaults=True),
        fields=state.fields,
        from_study=state.from_study,
        bound_for=state.bound[0] if state.bound else None,
        eval_set_id=bound.info.id if bound else None,
        signature=bound.signature if bound else None,
        first_look=bound.first_look if bound else None,
    )


def _state_of(draft: Draft) -> Brought:
    file = Path(draft.data_file) if draft.data_file else None
    state = Brought(
        draft_id=draft.id,
        model=workspace().load_manifest(f"upload-{draft.model_id}") if draft.model_id else None,
        model_name=draft.model_name,
        table_id=draft.table_id,
        profile=_profile(draft.table_id),
        data_name=draft.data_name,
        data_file=file if file and file.exists() else None,
        train_table_id=draft.train_table_id,
        train_name=draft.train_name,
        said=dict(draft.said),
        fields=dict(draft.fields),
        from_study=draft.from_study,
    )
    if state.profile is None:
        state.table_id = None
    if state.model and draft.bound_for and draft.eval_set_id and draft.signature:
        try:
            info = load_info(workspace().evalset_folder(draft.eval_set_id))
        except NotFound:
            return state
        state.bound = draft.bound_for, Bound(info=info, signature=draft.signature, first_look=draft.first_look)
    return state


def _profile(table_id: str | None) -> TableProfile | None:
    try:
        return load_profile(table_id, workspace()) if table_id else None
    except NotFound:
        return None


def take_up(draft_id: str) -> None:
    """Callback: go on with a saved draft."""
    if (state := saved(draft_id)) is not None:
        begin(state)
