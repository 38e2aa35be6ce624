"""Step 1: bring a model and see what it is."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from engine.intake import take_model
from engine.records import Manifest
from engine.settings import settings
from pages._ui import uploads
from pages._ui.new_study import drafts
from pages._ui.new_study.bring import bring
from pages._ui.new_study.describe import FORMATS, TASKS, describe, facts
from pages._ui.new_study.known import known_models
from pages._ui.new_study.roles import as_roles
from pages._ui.new_study.state import Brought, go_to, workspace
from pages._ui.parts import badge, card_title
from pages._ui.text import plain

__all__ = ["FORMATS", "TASKS", "facts", "model_step"]
OF_THE_ANSWERS = ("task", "output", "output_kind", "classes")
REPLACE = "ns-model-replace"


def model_step(state: Brought) -> None:
    """Ask for the model; once it was read, show it and the way on."""
    if state.model is None or st.session_state.get(REPLACE):
        _ask(state)
        if state.model is None:
            _unfinished()
        return
    with st.container(border=True, key="ns-model-card"):
        card_title(plain(state.model_name, 60), lambda: badge("Done", "Read and checked"))
        describe(state.model)
        with st.container(horizontal=True):
            st.button(
                "Continue to the data",
                type="primary",
                icon=":material/arrow_forward:",
                key="ns-model-next",
                on_click=go_to,
                args=("Data",),
            )
            st.button("Bring another model", key="ns-model-again", on_click=_replace, args=(True,))


def take_up_model(state: Brought, model: Manifest, name: str) -> None:
    """Another model; what was said about the data stays, what was said about answers only where they are alike."""
    kept = dict(state.said)
    if state.model is not None and state.model.signature.outputs != model.signature.outputs:
        kept = {field: value for field, value in kept.items() if field not in OF_THE_ANSWERS}
    state.model, state.model_name = model, name
    state.said = as_roles(kept, state.profile, model.signature) if state.profile else kept
    if state.profile is None:
        state.bound = None
    _replace(False)


def _ask(state: Brought) -> None:
    with st.container(border=True, key="ns-model-form"):
        card_title("Which model?")
        st.markdown(
            "ONNX (a file, or a zip with its external data), LightGBM text or XGBoost JSON or UBJ (`save_model`), or "
            "PyTorch saved with `torch.export.save` (.pt2) or as TorchScript. Pickles are refused: opening one can "
            "run any program."
        )

        def take(path: Path, name: str) -> None:
            take_up_model(state, take_model(path, name, workspace()), name)
            uploads.forget(path, settings().home)

        def use(model: Manifest, name: str) -> None:
            take_up_model(state, model, name)

        bring("Model file", "ns-model", take, lambda: known_models(state, take, use))
        if state.model is not None:
            st.button(
                f"Keep {plain(state.model_name, 60)}",
                icon=":material/undo:",
                key="ns-model-keep",
                on_click=_replace,
                args=(False,),
            )


def _replace(wanted: bool) -> None:
    st.session_state[REPLACE] = wanted


def _unfinished() -> None:
    """Drafts that were begun and not made a study: go on, or put away."""
    found = drafts.drafts()
    if not found:
        return
    with st.container(border=True, key="ns-drafts"):
        card_title("Or go on with a draft")
        for draft in found:
            with st.container(
                horizontal=True,
                vertical_alignment="center",
                horizontal_alignment="distribute",
                key=f"ns-draft-{draft.id}",
            ):
                st.markdown(f"**{plain(draft.title, 80)}**  \n:gray[{draft.saved_at:%d %b %Y, %H:%M} UTC]")
                with st.container(horizontal=True, width="content"):
                    st.button(
                        "Go on", icon=":material/arrow_forward:", key=f"ns-draft-go-{draft.id}",
                        on_click=drafts.take_up, args=(draft.id,),
                    )  # fmt: skip
                    st.button(
                        "Discard", type="tertiary", key=f"ns-draft-drop-{draft.id}", on_click=drafts.forget,
                        args=(draft.id,),
                    )  # fmt: skip
