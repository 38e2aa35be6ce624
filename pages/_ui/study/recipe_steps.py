"""The steps of a chain that is being put together: what it begins with, a form per step, and whether each fits."""

from __future__ import annotations

import streamlit as st

from engine.catalogue import bridge
from engine.errors import WhetstoneError
from engine.recipe import Reached
from engine.records import Manifest, Step
from pages._ui import loaders
from pages._ui.forms import parameters
from pages._ui.new_study.model import FORMATS
from pages._ui.parts import refusal
from pages._ui.study.chain import Draft, Item
from pages._ui.study.lever_cards import readable
from pages._ui.text import plain


def beginning(draft: Draft, manifest: Manifest) -> None:
    """What the chain begins with."""
    start = f":gray[:material/deployed_code:] The original, {FORMATS.get(manifest.format, manifest.format)}"
    if not draft.steps:
        start += (
            ". :gray[Add levers below; they are applied in order. With none, the original itself is run in the "
            "runtime chosen here.]"
        )
    st.markdown(start)
    if draft.origin:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"Begun from: {draft.origin}", width="content")
            st.button("Start anew", icon=":material/restart_alt:", type="tertiary", key="st-anew", on_click=draft.clear)


def step_form(draft: Draft, position: int, station: Reached) -> Step | None:
    """One step with its form; None while it does not fit or cannot be read."""
    item, last = draft.steps[position], len(draft.steps) - 1
    with st.container(border=True, key=f"st-step-{item.uid}", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.markdown(f"**{position + 1}  {item.cls.title}** {_arrow(station)}", width="stretch")
            _move(draft, position, -1, "Earlier", "arrow_upward", disabled=position == 0)
            _move(draft, position, +1, "Later", "arrow_downward", disabled=position == last)
            st.button(
                "Remove",
                icon=":material/close:",
                type="tertiary",
                key=f"st-remove-{item.uid}",
                on_click=draft.remove,
                args=(position,),
            )
        if station.reason is not None:
            _misfit(item, station)
        try:
            params = parameters(item.cls, f"st-{item.uid}", item.given)
        except WhetstoneError as error:
            refusal(error)
            return None
    return Step(lever=item.lever, params=params) if station.reason is None else None


def _arrow(station: Reached) -> str:
    """The format after the step."""
    after = station.after.format
    return f":gray[→ {FORMATS.get(after, after)}]" if station.reason is None else ""


def _move(draft: Draft, position: int, by: int, word: str, icon: str, *, disabled: bool) -> None:
    st.button(
        word,
        icon=f":material/{icon}:",
        type="tertiary",
        key=f"st-{word.lower()}-{draft.steps[position].uid}",
        disabled=disabled,
        on_click=draft.move,
        args=(position, by),
    )


def _misfit(item: Item, station: Reached) -> None:
    """Why the chain cannot be built like this, and the step that would help."""
    way = bridge(item.cls, station.before, loaders.machine())
    leads = way is not None and way[1] is None
    todo = f" **Next:** put “{way[0].title}” before it." if way and leads else " **Next:** move it or remove it."
    st.markdown(f":red[:material/link_off: Does not fit here.] {plain(readable(station.reason or ''), 240)}{todo}")
