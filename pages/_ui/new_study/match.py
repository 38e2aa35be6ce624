"""What came out of binding the data to the model: splits with their classes, slices, what was left out."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine.census import census
from engine.records import METRICS, Census, EvalSetInfo, PartRows, Signature, SplitName
from engine.reports import numbers
from engine.study import Bound
from pages._ui.new_study.answers import KINDS
from pages._ui.new_study.describe import TASKS
from pages._ui.new_study.state import workspace
from pages._ui.parts import badge, card_title
from pages._ui.text import plain, shorten

SPLITS: dict[SplitName, str] = {
    "train": "for levers that learn",
    "calibration": "of these, to set number ranges",
    "selection": "to compare variants",
    "certification": "kept back for the certificate",
}
MOST_CLASSES = 5
KEPT_APART = ("left out", "leakage", "repeat", "overlap", "only called test", "are used to compare")


@st.cache_data(show_spinner=False, max_entries=16)
def counted(eval_set_id: str, signature_json: str) -> Census:
    """The rows of an evaluation set, counted once."""
    return census(workspace().evalset_folder(eval_set_id), Signature.model_validate_json(signature_json))


def census_of(bound: Bound) -> Census:
    """The counts of what was bound."""
    return counted(bound.info.id, bound.signature.model_dump_json())


def match_card(bound: Bound) -> None:
    """The binding as a person can check it."""
    info, found = bound.info, census_of(bound)
    with st.container(border=True, key="ns-match"):
        card_title("How the rows are used", lambda: badge("Done", "Matches the model"))
        st.table(_facts(bound), border="horizontal", alt="What was bound to the model")
        st.table(_splits(info, found), border="horizontal", hide_index=True, alt="Rows of each split")
        if info.n_unlabelled:
            st.caption(f":material/info: {info.n_unlabelled:,} rows have no label: they are timed, not judged.")
        if found.slices:
            _slices(found.slices)
        _notes(info.notes)


def _facts(bound: Bound) -> dict[str, str]:
    signature = bound.signature
    kind = KINDS.get(signature.output_kind or "", "")
    rows = {
        "Task": TASKS.get(signature.task or "", plain(signature.task or "")),
        "Judged output": f"**{plain(signature.score_output, 40)}**: {kind}",
    }
    label = [name for name, role in bound.info.roles.items() if role == "label"]
    if label:
        rows["Truth"] = plain(", ".join(label), 200)
    look = bound.first_look
    if look is not None and not signature.classes:
        rows["First look"] = (
            f"{METRICS[look.metric].title} {numbers.quality(look.value, look.metric)} on {look.n_rows:,} selection rows"
        )
    return rows


def _splits(info: EvalSetInfo, found: Census) -> pd.DataFrame:
    rows = []
    for split, what in SPLITS.items():
        if split not in info.splits:
            continue
        row = {"Rows for": f"**{split.capitalize()}**  \n{what}", "Rows": f"{info.splits[split]:,}"}
        if found.classes:
            row["Of each class"] = _by_class(found.classes, split)
        rows.append(row)
    return pd.DataFrame(rows)


def _by_class(classes: Sequence[PartRows], split: SplitName) -> str:
    counts = {part.value: part.rows.get(split, 0) for part in classes}
    if len(counts) <= MOST_CLASSES:
        return " · ".join(f"{plain(name, 30)} {n:,}" for name, n in counts.items())
    least = min(counts, key=lambda name: counts[name])
    most = max(counts, key=lambda name: counts[name])
    return (
        f"{len(counts):,} classes, from {counts[least]:,} ({plain(least, 30)}) to {counts[most]:,} ({plain(most, 30)})"
    )


def _slices(slices: Sequence[PartRows]) -> None:
    columns = list(dict.fromkeys(str(part.column) for part in slices))
    n = len(slices)
    title = f"{n:,} slices of {plain(', '.join(shorten(name, 30) for name in columns), 120)}"
    with st.expander(title, icon=":material/data_thresholding:", key="ns-slices-box", expanded=n <= 6):
        frame = pd.DataFrame(
            [
                {"Column": part.column, "Value": part.value}
                | {split.capitalize(): part.rows.get(split, 0) for split in SPLITS}
                for part in slices
            ]
        )
        st.dataframe(
            frame,
            hide_index=True,
            key="ns-slices-table",
            height=35 * (min(n, 10) + 1) + 2,
            row_height=35,
            alt="Rows of every slice in every split",
        )


def _notes(notes: Sequence[str]) -> None:
    apart = [note for note in notes if any(word in note for word in KEPT_APART)]
    if apart:
        st.markdown("**Kept apart, so that nothing learnt is judged**")
        for note in apart:
            st.caption(f":material/shield: {plain(note, 300)}")
    for note in notes:
        if note not in apart and "Is it so?" not in note:
            st.caption(f":material/info: {plain(note, 300)}")
