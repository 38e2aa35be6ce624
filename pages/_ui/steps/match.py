"""What came out of binding the data to the model: inputs, splits, classes, slices, notes."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from engine.records import EvalSetInfo, Study, TensorSpec
from pages._ui.parts import badge, card_title
from pages._ui.steps.answers import KINDS
from pages._ui.steps.model import TASKS
from pages._ui.steps.state import Brought
from pages._ui.text import plain

SPLITS = {
    "train": "for levers that learn",
    "calibration": "of these, to set number ranges",
    "selection": "to compare variants",
    "certification": "kept back for the certificate",
}


def match_card(state: Brought) -> None:
    """The binding as a person can check it."""
    assert state.checked is not None
    _, study, info = state.checked
    with st.container(border=True, key="ns-match"):
        card_title("How they fit together", lambda: badge("Done", "Matches the model"))
        st.table(_facts(study, info), border="horizontal")
        if info.slices:
            st.caption("Slices: " + _slices(info))
        for note in info.notes:
            st.caption(f":material/info: {plain(note, 300)}")


def _facts(study: Study, info: EvalSetInfo) -> dict[str, str]:
    signature = study.signature
    rows = {f"Input {plain(spec.name, 40)}": _source(spec) for spec in signature.inputs}
    kind = KINDS.get(signature.output_kind or "", "")
    rows["Judged output"] = f"**{plain(signature.score_output, 40)}**: {kind}"
    rows["Task"] = TASKS.get(signature.task or "", "")
    if info.classes:
        rows["Classes"] = plain(", ".join(f"{i}: {name}" for i, name in enumerate(info.classes)), 300)
    for name, n_rows in info.splits.items():
        rows[name.capitalize()] = f"**{n_rows:,}** rows, {SPLITS[name]}"
    if info.n_unlabelled:
        rows["Without a label"] = f"{info.n_unlabelled:,} rows; timed, not judged"
    return rows


def _source(spec: TensorSpec) -> str:
    if spec.columns is None:
        return "the column of the same name"
    return plain(", ".join(spec.columns), 300)


def _slices(info: EvalSetInfo) -> str:
    counts = Counter(part.column for part in info.slices)
    least = {name: min(part.n_rows for part in info.slices if part.column == name) for name in counts}
    return ", ".join(f"{plain(name, 40)} ({n} values, smallest {least[name]:,} rows)" for name, n in counts.items())
