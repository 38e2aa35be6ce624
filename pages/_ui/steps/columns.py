"""The data file on the screen: how it was read, its first rows, and an editable role per column."""

from __future__ import annotations

from typing import get_args

import pandas as pd
import streamlit as st

from engine.data.choices import DataChoices
from engine.data.profile import ColumnProfile, TableProfile
from engine.data.roles import guess_roles
from engine.errors import WhetstoneError
from engine.intake import read_table
from engine.records import Role
from pages._ui.parts import refusal
from pages._ui.steps.state import Brought, workspace
from pages._ui.text import plain

ROLES: tuple[Role, ...] = get_args(Role)
MEANING = (
    "feature: goes into the model · label: the truth · slice: judged value by value · group: rows that stay together · "
    "id: names the row · weight: counts the row more or less · split: train, calibration, selection or certification · "
    "ignored: not used"
)
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
SHOWN_READING = ("encoding", "separator")
ENCODINGS = ("utf-8", "cp1252", "latin-1", "utf-16", "shift_jis", "gb18030")
N_PREVIEW = 6


def preview(profile: TableProfile) -> None:
    """Size, notes and first rows."""
    how = [f"{name} {SEPARATORS.get(value, value)}" for name, value in profile.reading.items() if name in SHOWN_READING]
    reading = ", ".join([profile.format.upper(), *how])
    st.caption(f"{profile.n_rows:,} rows · {len(profile.columns):,} columns · read as {plain(reading, 120)}")
    for note in profile.notes:
        st.caption(f":material/info: {plain(note, 300)}")
    if profile.head:
        frame = pd.DataFrame(list(profile.head[:N_PREVIEW]), columns=profile.names[: len(profile.head[0])])
        st.dataframe(frame, hide_index=True, key="ns-preview", alt="The first rows of the data file", row_height=32)


def reading_form(state: Brought) -> None:
    """For text files that are still here: read again with another separator or encoding."""
    if state.profile is None or state.profile.format != "csv" or state.data_file is None:
        return
    reading = state.profile.reading
    with st.popover("Read it differently", icon=":material/translate:", key="ns-reading"):
        separator = st.selectbox(
            "Separator",
            list(dict.fromkeys([reading.get("separator", ","), *SEPARATORS])),
            format_func=lambda text: SEPARATORS.get(text, text),
            key="ns-separator",
        )
        encoding = st.selectbox(
            "Encoding", list(dict.fromkeys([reading.get("encoding", "utf-8"), *ENCODINGS])), key="ns-encoding"
        )
        if not st.button("Read again", icon=":material/refresh:", key="ns-reread"):
            return
        try:
            with st.spinner("Reading"):
                state.table_id, state.profile = read_table(
                    state.data_file, state.data_name, workspace(), encoding=encoding, separator=separator
                )
        except WhetstoneError as error:
            refusal(error)
            return
        state.said.clear()
        state.said.update(encoding=encoding, separator=separator)
        st.rerun()


def columns_editor(state: Brought) -> None:
    """One row per column; a changed role is remembered, the others stay guessed."""
    assert state.model is not None
    assert state.profile is not None
    assert state.table_id is not None
    others = DataChoices(**{name: value for name, value in state.said.items() if name != "roles"})
    guessed = guess_roles(state.profile, state.model.signature, choices=others)
    said: dict[str, Role] = state.said.get("roles", {})
    key = f"ns-roles-{state.table_id[:12]}"
    if key not in st.session_state:  # first drawn, or drawn again after another step: start from what was said
        st.session_state[f"{key}-base"] = _frame(state.profile, {**guessed, **said})
    edited = st.data_editor(
        st.session_state[f"{key}-base"],
        key=key,
        hide_index=True,
        height="content",
        row_height=34,
        disabled=("Column", "Holds", "Missing", "Distinct", "Examples"),
        column_config={
            "Role": st.column_config.SelectboxColumn(options=list(ROLES), required=True, help=MEANING, width=110),
            "Missing": st.column_config.NumberColumn(format="localized", width=90),
            "Distinct": st.column_config.TextColumn(width=90),
        },
        alt="The columns of the data file and the role of each",
    )
    roles = dict(zip(edited["Column"], edited["Role"], strict=True))
    state.said["roles"] = {name: role for name, role in roles.items() if role != guessed.get(name)}
    st.caption(MEANING)


def _frame(profile: TableProfile, roles: dict[str, Role]) -> pd.DataFrame:
    rows = [
        {
            "Column": column.name,
            "Role": roles.get(column.name, "ignored"),
            "Holds": _holds(column),
            "Missing": column.n_missing,
            "Distinct": "> 1,000" if column.n_unique is None else f"{column.n_unique:,}",
            "Examples": ", ".join(column.examples[:4]),
        }
        for column in profile.columns
    ]
    return pd.DataFrame(rows)


def _holds(column: ColumnProfile) -> str:
    return f"{column.kind} {'×'.join(map(str, column.shape))}".strip()
