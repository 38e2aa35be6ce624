"""What is known of a model, at once: inputs and outputs, size, where it comes from, what can be tried on it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine.catalogue import Entry, catalogue
from engine.records import Manifest, TensorSpec
from engine.reports import numbers
from pages._ui import loaders
from pages._ui.parts import md_badge
from pages._ui.text import plain, sentence, shorten

FORMATS = {
    "onnx": "ONNX",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "torch_export": "PyTorch (.pt2)",
    "torchscript": "TorchScript",
    "trees_binned": "Binned trees",
}
TASKS = {
    "binary": "two classes",
    "multiclass": "several classes",
    "multilabel": "several labels at once",
    "regression": "a number",
    "ranking": "a ranking",
    "embedding": "an embedding",
    "other": "other outputs",
}
N_NAMES = 12


def describe(model: Manifest) -> None:
    """Facts on the left, inputs and outputs on the right, what can be tried below."""
    with st.grid(2, min_column_width=340):
        with st.container(gap="xsmall"):
            st.table(facts(model), border="horizontal", alt="The model")
        with st.container(gap="xsmall"):
            tensors("Inputs", model.signature.inputs)
            tensors("Outputs", model.signature.outputs)
    for warning in model.warnings:
        st.warning(sentence(warning, 500), icon=":material/warning:")
    box = st.expander("What can be tried on it", icon=":material/content_cut:", key="ns-levers", on_change="rerun")
    if box.open:
        with box:
            _levers(catalogue(model, loaders.machine()))


def facts(model: Manifest) -> dict[str, str]:
    """What is known of a model, for a two-column table of Markdown."""
    signature = model.signature
    rows = {"Format": FORMATS.get(model.format, plain(model.format))}
    if model.n_trees is not None:
        rows["Trees"] = f"{model.n_trees:,}"
    if model.n_parameters is not None:
        rows["Parameters"] = f"{model.n_parameters:,}"
    rows["Size"] = numbers.size(model.size_bytes)
    if signature.task:
        rows["Answers"] = TASKS.get(signature.task, plain(signature.task))
    if signature.classes:
        rows["Classes"] = f"{len(signature.classes):,}: {names(signature.classes)}"
    if signature.fixed_batch:
        rows["Batch"] = f"fixed at {signature.fixed_batch:,}"
    if model.operators:
        rows["Operators"] = names(model.operators)
    if model.versions:
        rows["Made with"] = plain(", ".join(f"{name} {value}" for name, value in model.versions.items()), 200)
    return rows


def tensors(title: str, specs: Sequence[TensorSpec]) -> None:
    """Name, type and shape of every input or output; the columns behind an input below it."""
    frame = pd.DataFrame(
        [(f"**{plain(spec.name, 60)}**", plain(spec.dtype), plain(shape_of(spec))) for spec in specs],
        columns=[title, "Holds", "Shape"],
    )
    st.table(frame, border="horizontal", hide_index=True, alt=title)
    for spec in specs:
        if spec.columns:
            n_named = f", {len(spec.categories)} of them categories" if spec.categories else ""
            st.caption(f"{plain(spec.name, 60)}: {len(spec.columns):,} columns{n_named}: {names(spec.columns)}")


def shape_of(spec: TensorSpec) -> str:
    """'batch × 12'; a single value has no axis."""
    return " × ".join(str(axis) for axis in spec.shape) or "one value"


def names(found: Sequence[str], limit: int = N_NAMES) -> str:
    """The first names, and how many follow."""
    more = f" and {len(found) - limit:,} more" if len(found) > limit else ""
    return ", ".join(plain(shorten(name, 40)) for name in found[:limit]) + more


def in_a_line(model: Manifest) -> str:
    """'LightGBM · 1,200 trees · 4.20 MB · two classes'."""
    parts = [FORMATS.get(model.format, plain(model.format))]
    if model.n_trees is not None:
        parts.append(f"{model.n_trees:,} trees")
    elif model.n_parameters is not None:
        parts.append(f"{model.n_parameters:,} parameters")
    parts.append(numbers.size(model.size_bytes))
    if model.signature.task:
        parts.append(TASKS.get(model.signature.task, plain(model.signature.task)))
    return " · ".join(parts)


def _levers(entries: Sequence[Entry]) -> None:
    rows = {}
    for one in entries:
        if one.reason is not None:
            rows[plain(one.lever.title, 60)] = f"{md_badge('Does not fit')} {sentence(one.reason, 200)}"
        elif one.prediction is not None:
            rows[plain(one.lever.title, 60)] = f"{md_badge(one.prediction.word)} {sentence(one.prediction.reason, 200)}"
        else:
            rows[plain(one.lever.title, 60)] = sentence(one.story.what, 200)
    st.table(rows, border="horizontal", alt="What can be tried")
    st.caption("Expected from what is known of the model and this processor; only a measurement decides.")
