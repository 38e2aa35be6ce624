"""The data file on the screen: how it was read, its first rows, and an editable role per column."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine.data.choices import DataChoices
from engine.data.profile import ColumnProfile, TableProfile
from engine.errors import WhetstoneError
from engine.intake import read_table
from engine.records import Role
from pages._ui.new_study.roles import MEANING, ROLES, as_roles, guessed, shown, with_roles
from pages._ui.new_study.state import ROLES_DRAWN, Brought, workspace
from pages._ui.parts import refusal
from pages._ui.text import plain, shorten

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
SHOWN_READING = ("encoding", "separator")
ENCODINGS = ("utf-8", "cp1252", "latin-1", "utf-16", "shift_jis", "gb18030")
N_PREVIEW = 6
MOST_ROWS_HIGH = 14
FIXED = ("Column", "Guessed", "Holds", "Missing", "Distinct", "Examples")


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
        assert state.model is not None
        state.said = as_roles(state.said, state.profile, state.model.signature)
        state.said |= {"encoding": encoding, "separator": separator}
        st.rerun()


def columns_editor(state: Brought) -> None:
    """One row per column; a changed role is remembered, the others stay guessed."""
    assert state.model is not None
    assert state.profile is not None
    assert state.table_id is not None
    guess = guessed(state.profile, state.model.signature, state.said)
    roles, also = shown(state.profile, state.model.signature, state.said)
    # another guess (a new model, another task) draws the table anew; an edit must not, or the cursor would jump
    drawn = f"{DataChoices(roles=guess).fingerprint[:6]}-{st.session_state.get(ROLES_DRAWN, 0)}"
    key = f"ns-roles-{state.table_id[:12]}-{drawn}"
    if key not in st.session_state:  # first drawn, or drawn again after another step: start from what was said
        st.session_state[f"{key}-base"] = _frame(state.profile, roles, also, guess)
    edited = st.data_editor(
        st.session_state[f"{key}-base"],
        key=key,
        hide_index=True,
        height=35 * (min(len(state.profile.columns), MOST_ROWS_HIGH) + 1) + 2,
        row_height=35,
        disabled=FIXED,
        column_config={
            "Role": st.column_config.SelectboxColumn(options=list(ROLES), required=True, help=meanings(), width=120),
            "Also a slice": st.column_config.CheckboxColumn(
                help="Judge every value of this column on its own, beside the role it has.", width=100
            ),
            "Guessed": st.column_config.TextColumn(help="What the file and the model suggest.", width=90),
            "Missing": st.column_config.NumberColumn(format="localized", width=80),
            "Distinct": st.column_config.TextColumn(width=80),
        },
        alt="The columns of the data file and the role of each",
    )
    chosen: dict[str, Role] = dict(zip(edited["Column"], edited["Role"], strict=True))
    ticked = set(edited["Column"][edited["Also a slice"].astype(bool) & (edited["Role"] != "slice")])
    said = with_roles(state.said, chosen, ticked, guess)
    if said != state.said:
        state.said = said
        st.rerun()  # the steps above and the cards below depend on it
    st.caption(meanings())


def meanings() -> str:
    """What each role means, in the order in which the engine names them."""
    return " · ".join(f"{role}: {MEANING.get(role, role)}" for role in ROLES)


def _frame(profile: TableProfile, roles: dict[str, Role], also: set[str], guess: dict[str, Role]) -> pd.DataFrame:
    rows = [
        {
            "Column": column.name,
            "Role": roles.get(column.name, "ignored"),
            "Also a slice": column.name in also,
            "Guessed": guess.get(column.name, "ignored"),
            "Holds": holds(column),
            "Missing": column.n_missing,
            "Distinct": "> 1,000" if column.n_unique is None else f"{column.n_unique:,}",
            "Examples": ", ".join(shorten(text, 12) for text in column.examples[:4]),
        }
        for column in profile.columns
    ]
    return pd.DataFrame(rows)


def holds(column: ColumnProfile) -> str:
    """'number', 'array 3×32×32'."""
    return f"{column.kind} {'×'.join(map(str, column.shape))}".strip()
