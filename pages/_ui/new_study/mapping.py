"""The model's inputs and the file's columns side by side; what does not meet is named at once."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine.data.labels import UNLABELLED_TASKS
from engine.data.pairing import Pairing, pairing
from engine.data.roles import guess_roles, named_columns, unnamed_inputs
from engine.errors import WhetstoneError
from engine.records import Role
from pages._ui.new_study.describe import TASKS, names
from pages._ui.new_study.hints import on_page
from pages._ui.new_study.state import Brought
from pages._ui.parts import badge, card_title
from pages._ui.text import plain, sentence

MOST_ROWS_HIGH = 10


def mapping_card(state: Brought) -> str | None:
    """Draw it; returns what keeps the data from being bound, as a sentence, or None."""
    assert state.profile is not None
    assert state.model is not None
    with st.container(border=True, key="ns-mapping-card"):
        try:
            roles = guess_roles(state.profile, state.model.signature, choices=state.choices)
            found = pairing(state.profile, state.model.signature, roles, state.choices)
            named_columns(roles, state.choices)
        except WhetstoneError as error:
            card_title("How the columns meet the model", lambda: badge("Does not fit", "Not yet"))
            return on_page(error)

        def state_of_it() -> None:
            if found.problem is None:
                badge("Done", f"All {len(found.pairs):,} matched" if len(found.pairs) > 1 else "Matched")
            else:
                badge("Does not fit", f"{len(found.unmatched):,} of {len(found.pairs):,} not matched")

        card_title("How the columns meet the model", state_of_it)
        _table(found)
        if found.unused:
            st.caption(f":material/info: Features that no input takes: {names(found.unused)}")
        if _by_order(state, found):
            _order(state, [name for name, role in roles.items() if role == "feature"])
        return on_page(found.problem) if found.problem else _label_missing(state, roles)


def _label_missing(state: Brought, roles: dict[str, Role]) -> str | None:
    assert state.model is not None
    task = state.said.get("task") or state.model.signature.task
    if "label" in roles.values() or task in UNLABELLED_TASKS:
        return None
    return (
        "No column is the label. Give the column that holds the truth the role label above, or choose the task "
        f"“{TASKS['other']}” for agreement with the original and time alone"
    )


def _by_order(state: Brought, found: Pairing) -> bool:
    """The model does not name its columns, or its only input has another name than the file's array."""
    assert state.profile is not None
    assert state.model is not None
    inputs = state.model.signature.inputs
    alone = len(inputs) == 1 and inputs[0].columns is None and bool(found.unmatched)
    return alone or "feature_order" in state.said or bool(unnamed_inputs(state.profile, state.model.signature))


def _table(found: Pairing) -> None:
    several = len({pair.input for pair in found.pairs}) > 1
    frame = pd.DataFrame(
        [
            {
                "Model input": f"{pair.input}: {pair.wants}" if several and pair.wants != pair.input else pair.wants,
                "Takes": pair.takes,
                "←": "✓" if pair.column else "✕",
                "Column in the file": pair.column or "no such column",
                "Holds": pair.holds,
                "Cast": pair.cast or "",
            }
            for pair in sorted(found.pairs, key=lambda pair: pair.column is not None)
        ]
    )
    st.dataframe(
        frame,
        hide_index=True,
        key="ns-mapping",
        height=35 * (min(len(frame), MOST_ROWS_HIGH) + 1) + 2,
        row_height=35,
        column_config={"←": st.column_config.TextColumn(width=40), "Cast": st.column_config.TextColumn(width=150)},
        alt="Every input of the model beside the column that fills it",
    )
    casts = sum(pair.cast is not None for pair in found.pairs)
    if casts:
        said = "1 column is" if casts == 1 else f"{casts:,} columns are"
        st.caption(f"{said} given as another type. A value that would change by it is refused with its row.")


def _order(state: Brought, in_file: list[str]) -> None:
    """For a model that does not name its columns: their order, to be confirmed."""
    assert state.profile is not None
    st.markdown("**Columns in the model's order.** The model does not name its columns: only their order tells.")
    said = state.said.get("feature_order")
    key = f"ns-order-{state.table_id}"
    if key not in st.session_state:
        st.session_state[key] = ", ".join(said or in_file)
    text = st.text_area(
        "Columns, separated by commas, as the model was trained with them", key=key, height=80,
        help="The first column goes into the first place of the input.",
    )  # fmt: skip
    order = tuple(part.strip() for part in text.split(",") if part.strip())
    strange = [name for name in order if state.profile.column(name) is None]
    if strange:
        st.caption(f":red[:material/error: The file has no column {plain(', '.join(strange), 120)}.]")
        return
    sure = st.checkbox("They are in the model's order", value=said is not None, key=f"ns-order-ok-{state.table_id}")
    if sure and order and order != said:
        state.said["feature_order"] = order
        st.rerun()
    if not sure and said is not None:
        del state.said["feature_order"]
        st.rerun()


def problem_line(problem: str | None) -> None:
    """What is missing, beside the button that waits for it."""
    if problem:
        st.caption(f":red[:material/error:] {sentence(problem, 600)}")
