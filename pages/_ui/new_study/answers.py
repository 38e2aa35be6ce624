"""What the model's output means: found out, shown, and changeable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import streamlit as st

from engine.data.choices import DataChoices
from engine.records import OutputKind, Task
from pages._ui.new_study.describe import TASKS
from pages._ui.new_study.roles import said_of_labels, shown
from pages._ui.new_study.state import Brought, redraw_roles

KINDS = {
    "logits": "scores before softmax or sigmoid (logits)",
    "probabilities": "probabilities",
    "value": "the predicted value",
    "raw score": "a raw score",
    "embedding": "an embedding",
}


def answers_form(state: Brought) -> None:
    """Task, judged output and its kind. Empty means: find out."""
    assert state.model is not None
    found = state.bound[1].signature if state.bound else state.model.signature
    outputs = [spec.name for spec in state.model.signature.outputs]
    with st.grid(3, min_column_width=200):
        _pick(state, "task", "Task", get_args(Task), TASKS, found.task)
        if len(outputs) > 1:
            _pick(state, "output", "Output that is judged", outputs, {}, found.score_output)
        _pick(state, "output_kind", "That output holds", get_args(OutputKind), KINDS, found.output_kind)
    if (state.said.get("task") or found.task) == "multilabel":
        _several_labels(state)


def _pick(
    state: Brought, field: str, label: str, options: Sequence[str], words: dict[str, str], found: str | None
) -> None:
    auto = f"Find out ({words.get(found, found)})" if found and field not in state.said else "Find out"
    said = state.said.get(field)
    choice = st.selectbox(
        label,
        [None, *options],
        index=[None, *options].index(said) if said in options else 0,
        format_func=lambda value: auto if value is None else words.get(value, value),
        key=f"ns-{field}",
    )
    if choice == said:
        return
    if choice is None:
        state.said.pop(field, None)
    else:
        state.said[field] = choice
    st.rerun()  # roles and mapping above depend on it


def _several_labels(state: Brought) -> None:
    """Of several labels at once: one column of 0 and 1 per score, or one column that holds them all."""
    assert state.profile is not None
    assert state.model is not None
    roles, _ = shown(state.profile, state.model.signature, state.said)
    marked = [name for name, role in roles.items() if role == "label"]
    before = list(state.said.get("labels") or marked)
    columns = [column.name for column in state.profile.columns if column.kind not in ("text", "time")]
    chosen = st.multiselect(
        "Label columns, in the order of the model's scores",
        list(dict.fromkeys([*columns, *before])),
        default=before,
        key=f"ns-labels-{state.table_id}-{DataChoices(labels=tuple(before)).fingerprint[:6]}",
        help="A column of 0 and 1 for every score; or the one column that holds an array or a text of all labels.",
    )
    if chosen and chosen != before:
        state.said = said_of_labels(state.said, roles, tuple(chosen))
        redraw_roles()
        st.rerun()
    kinds = {column.name: column.kind for column in state.profile.columns}
    if len(before) == 1 and kinds.get(before[0]) == "text":
        _separator(state)


def _separator(state: Brought) -> None:
    said = state.said.get("label_separator", "")
    text = st.text_input(
        "Between the labels of a row", value=said, max_chars=8, key="ns-label_separator", placeholder="found out",
        help="For one text column such as a|b: the sign between the names. Columns of 0 and 1 need none.",
    )  # fmt: skip
    if text == said:
        return
    if text:
        state.said["label_separator"] = text
    else:
        state.said.pop("label_separator", None)
    st.rerun()
