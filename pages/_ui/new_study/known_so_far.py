"""What the steps before have settled, each with the way back."""

from __future__ import annotations

import streamlit as st

from engine.study import Bound
from pages._ui.new_study.describe import in_a_line
from pages._ui.new_study.state import Brought, go_to
from pages._ui.text import plain


def known_so_far(state: Brought, bound: Bound | None = None) -> None:
    """A quiet card per finished step."""
    assert state.model is not None
    cards = [("Model", plain(state.model_name, 60), in_a_line(state.model))]
    if bound is not None:
        info = bound.info
        held = info.splits.get("certification", 0)
        truth = [name for name, role in info.roles.items() if role == "label"]
        said = [f"{info.n_rows:,} rows", f"{held:,} kept back for certificates"]
        if truth:
            said.insert(1, f"truth in {plain(', '.join(truth), 60)}")
        cards.append(("Data", plain(state.data_name, 60), " · ".join(said)))
    with st.grid(2, min_column_width=320):
        for step, name, line in cards:
            with st.container(border=True, key=f"ns-known-{step.lower()}", height="stretch", gap="xxsmall"):
                with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
                    st.markdown(f":gray[{step}] **{name}**", width="content")
                    st.button(
                        "Change", type="tertiary", icon=":material/edit:", key=f"ns-known-{step.lower()}-edit",
                        on_click=go_to, args=(step,), help=f"Back to the {step.lower()} step; nothing is lost.",
                    )  # fmt: skip
                st.caption(line)
