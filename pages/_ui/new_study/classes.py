"""Which label belongs to which score of the model: shown, changeable, and confirmed where nobody has said it."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine.records import METRICS, Census, SplitName
from engine.reports import numbers
from engine.study import Bound
from pages._ui.new_study.state import CONFIRMED, Brought
from pages._ui.parts import card_title
from pages._ui.text import plain

CHECK_NOW = "ns-check-now"  # another order was chosen: bind again without being asked
JUDGED: tuple[SplitName, ...] = ("selection", "certification")
MOST_ROWS_HIGH = 12


def classes_card(state: Brought, bound: Bound, counted: Census) -> None:
    """The order of the classes as an editable table; changing it asks for another check."""
    classes = bound.signature.classes
    if not classes or len(classes) < 2:
        return
    with st.container(border=True, key="ns-classes-card"):
        card_title("Which label belongs to which score")
        judged = {part.value: sum(part.rows.get(split, 0) for split in JUDGED) for part in counted.classes}
        frame = pd.DataFrame(
            {
                "Score": [f"{at + 1} of {len(classes)}" for at in range(len(classes))],
                "Label in the file": list(classes),
                "Rows judged": [judged.get(name) for name in classes],
            }
        )
        edited = st.data_editor(
            frame,
            key=f"ns-classes-{bound.info.id[:12]}",
            hide_index=True,
            height=35 * (min(len(classes), MOST_ROWS_HIGH) + 1) + 2,
            row_height=35,
            disabled=("Score", "Rows judged"),
            column_config={
                "Score": st.column_config.TextColumn(width=90),
                "Label in the file": st.column_config.SelectboxColumn(options=list(classes), required=True),
                "Rows judged": st.column_config.NumberColumn(format="localized", width=110),
            },
            alt="The label of every score of the model",
        )
        order = tuple(edited["Label in the file"])
        if _first_look(bound) and len(classes) == 2 and order == classes:
            swap = st.button("Swap the two and check again", icon=":material/swap_vert:", key="ns-classes-swap")
            order = classes[::-1] if swap else order
        _apply(state, classes, order)
        if proposed(state, bound):
            kept = state.fields.get(CONFIRMED) == list(classes)
            sure = st.checkbox(
                f"Yes, this is the order: {plain(classes[0], 40)} is the model's first score", value=kept, key=CONFIRMED
            )
            state.fields[CONFIRMED] = list(classes) if sure else None


def proposed(state: Brought, bound: Bound) -> bool:
    """Neither the model nor a person has named the classes, and their names are not simply 0, 1, 2."""
    classes = bound.signature.classes
    assert state.model is not None
    if not classes or {"classes", "labels"} & set(state.said) or classes == state.model.signature.classes:
        return False
    return classes != tuple(map(str, range(len(classes))))


def confirmed(state: Brought, bound: Bound) -> bool:
    """Nothing about the classes waits for a word."""
    return not proposed(state, bound) or state.fields.get(CONFIRMED) == list(bound.signature.classes or ())


def _apply(state: Brought, classes: tuple[str, ...], order: tuple[str, ...]) -> None:
    if order == classes:
        return
    if set(order) != set(classes):
        twice = next(name for name in order if order.count(name) > 1)
        st.caption(f":red[:material/error: {plain(twice, 60)} stands twice; every label belongs to one score.]")
        return
    columns = state.profile is not None and all(state.profile.column(name) is not None for name in classes)
    several = state.bound is not None and state.bound[1].signature.task == "multilabel"
    state.said["labels" if several and columns else "classes"] = order
    st.session_state[CHECK_NOW] = True
    st.rerun()


def _first_look(bound: Bound) -> bool:
    """How the model does on a few rows; True where that casts doubt on the order."""
    look = bound.first_look
    if look is None:
        return False
    title, value = METRICS[look.metric].title, numbers.quality(look.value, look.metric)
    said = f"On the first {look.n_rows:,} selection rows the model has {value} {title}"
    if look.doubtful:
        st.warning(
            f"{said}, no better than a guess. Is the order of the classes another one, or another output judged?",
            icon=":material/warning:",
        )
    else:
        st.caption(f":material/visibility: {said}: labels and scores belong together.")
    return look.doubtful
