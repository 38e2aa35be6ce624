"""What the model's output means: found out, shown, and changeable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import streamlit as st

from engine.records import OutputKind, Task
from pages._ui.steps.model import TASKS
from pages._ui.steps.state import Brought

KINDS = {
    "logits": "scores before softmax or sigmoid (logits)",
    "probabilities": "probabilities",
    "value": "the predicted value",
    "raw score": "a raw score",
    "embedding": "an embedding",
}


def answers_form(state: Brought) -> None:
    """Task, judged output, its kind and the order of the classes. Empty means: find out."""
    assert state.model is not None
    found = state.checked[1].signature if state.checked else state.model.signature
    outputs = [spec.name for spec in state.model.signature.outputs]
    with st.grid(3, min_column_width=200):
        _pick(state, "task", "Task", get_args(Task), TASKS, found.task)
        if len(outputs) > 1:
            _pick(state, "output", "Output that is judged", outputs, {}, found.score_output)
        _pick(state, "output_kind", "That output holds", get_args(OutputKind), KINDS, found.output_kind)
    if found.classes and len(found.classes) > 1:
        order = st.multiselect(
            "Classes, in the order of the model's scores",
            sorted({*found.classes, *state.said.get("classes", ())}),
            default=list(state.said.get("classes", found.classes)),
            key=f"ns-classes-{state.table_id}",
            help="The first class belongs to the first score. Take all out and add them again to change the order.",
        )
        if len(order) == len(found.classes) and tuple(order) != state.said.get("classes", found.classes):
            state.said["classes"] = tuple(order)


def _pick(
    state: Brought, field: str, label: str, options: Sequence[str], words: dict[str, str], found: str | None
) -> None:
    auto = f"Find out ({words.get(found, found)})" if found and field not in state.said else "Find out"
    choice = st.selectbox(
        label,
        [None, *options],
        index=[None, *options].index(state.said.get(field)),
        format_func=lambda value: auto if value is None else words.get(value, value),
        key=f"ns-{field}",
    )
    if choice is None:
        state.said.pop(field, None)
    else:
        state.said[field] = choice
