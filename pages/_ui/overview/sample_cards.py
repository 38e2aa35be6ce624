"""Samples as cards: a whole study of real data at one click."""

from __future__ import annotations

import streamlit as st

from engine.errors import WhetstoneError
from engine.jobs.start import start_sample
from pages._ui import loaders
from pages._ui.identity import current_user
from pages._ui.parts import refusal
from sample_models import samples
from sample_models.sample import Sample

FIRST = "flight_delay"  # the one of the README's five minutes


def sample_cards(*, primary: bool) -> None:
    """One card per sample, with the button that makes its study. `primary`: they are the main way in."""
    with st.grid(3, min_column_width=236):
        for name, sample in sorted(samples().items(), key=lambda item: item[0] != FIRST):
            _sample_card(name, sample, primary=primary and name == FIRST)


def _sample_card(name: str, sample: Sample, *, primary: bool) -> None:
    with st.container(border=True, height="stretch", key=f"ov-sample-card-{name}", gap="small"):
        st.markdown(f"**{sample.title}**")
        st.markdown(sample.summary)
        st.space("stretch")
        st.caption(f"{sample.source}. {sample.licence}")
        go = st.button(
            "Run this sample",
            icon=":material/play_arrow:",
            type="primary" if primary else "secondary",
            key=f"ov-sample-{name}",
        )
    if go:
        _start(name)


def _start(name: str) -> None:
    made: list[str] = st.session_state.setdefault("ov-made", [])  # filled when a double click cut the first half off
    try:
        if not made:
            with st.spinner("Reading the sample and starting its baseline"):
                made.append(start_sample(loaders.ledger(), name, current_user()).id)
    except WhetstoneError as error:
        refusal(error)
        return
    st.switch_page("study.py", query_params={"study": made.pop()})
