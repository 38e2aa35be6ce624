"""Step 1: bring a model and see what it is."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from engine.intake import take_model
from engine.records import Manifest, TensorSpec
from engine.settings import settings
from pages._ui import uploads
from pages._ui.bring import bring
from pages._ui.parts import card_title
from pages._ui.steps.state import Brought, go_to, workspace
from pages._ui.text import plain

FORMATS = {"onnx": "ONNX", "lightgbm": "LightGBM", "torch_export": "PyTorch (.pt2)"}
TASKS = {
    "binary": "two classes",
    "multiclass": "several classes",
    "regression": "a number",
    "ranking": "a ranking",
    "embedding": "an embedding",
    "other": "other outputs",
}


def model_step(state: Brought) -> None:
    """Ask for the model; once it was read, show it and the way on."""
    if state.model is None:
        _ask(state)
        return
    with st.container(border=True, key="ns-model-card"):
        card_title(plain(state.model_name, 60))
        st.table(facts(state.model), border="horizontal")
        for warning in state.model.warnings:
            st.warning(plain(warning, 500), icon=":material/warning:")
        with st.container(horizontal=True):
            st.button(
                "Continue to the data",
                type="primary",
                icon=":material/arrow_forward:",
                key="ns-model-next",
                on_click=go_to,
                args=("Data",),
            )
            st.button("Bring another model", key="ns-model-again", on_click=_again, args=(state,))


def facts(model: Manifest) -> dict[str, str]:
    """What is known of a model, for a two-column table of Markdown."""
    signature = model.signature
    rows = {"Format": FORMATS.get(model.format, model.format)}
    if model.n_trees is not None:
        rows["Trees"] = f"{model.n_trees:,}"
    if model.n_parameters is not None:
        rows["Parameters"] = f"{model.n_parameters:,}"
    if signature.task:
        rows["Answers"] = TASKS[signature.task]
    rows["Inputs"] = "  \n".join(tensor(spec) for spec in signature.inputs)
    for spec in signature.inputs:
        if spec.columns:
            rows["Columns"] = plain(", ".join(spec.columns), 400)
    rows["Outputs"] = "  \n".join(tensor(spec) for spec in signature.outputs)
    if signature.classes:
        rows["Classes"] = plain(", ".join(signature.classes), 300)
    rows["Size"] = f"{model.size_bytes / 1e6:,.2f} MB"
    if model.versions:
        rows["Made with"] = plain(", ".join(f"{name} {value}" for name, value in model.versions.items()), 200)
    return rows


def tensor(spec: TensorSpec) -> str:
    """`name` float32 [batch, 12], as safe Markdown."""
    shape = ", ".join(str(axis) for axis in spec.shape)
    return f"**{plain(spec.name, 60)}** {plain(spec.dtype)} {plain(f'[{shape}]')}"


def _ask(state: Brought) -> None:
    with st.container(border=True, key="ns-model-form"):
        card_title("Which model?")
        st.markdown(
            "ONNX (a file, or a zip with its external data), LightGBM text (`model.save_model`), or PyTorch saved with "
            "`torch.export.save` (.pt2). Pickles are refused: opening one can run any program."
        )

        def take(path: Path, name: str) -> None:
            state.model = take_model(path, name, workspace())
            state.model_name = name
            state.said.clear()
            state.forget_check()
            uploads.forget(path, settings().home)

        bring("Model file", "ns-model", take)


def _again(state: Brought) -> None:
    state.model = None
    state.forget_check()
    st.query_params.pop("model", None)
