"""Fields whose values outlive a visit to another step, a reload, and the day: they are part of the draft."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from pages._ui.new_study.state import Brought

T = TypeVar("T")


def text(state: Brought, label: str, key: str, default: str, **more: Any) -> str:
    """A line of text."""
    _start(state, key, default)
    said: str = st.text_input(label, key=key, **more)
    return _kept(state, key, said)


def number(state: Brought, label: str, key: str, default: float | int | None, low: Any, high: Any, **more: Any) -> Any:
    """A number; a whole one where the default is. low, high: bounds, None where there is none."""
    _start(state, key, default)
    value, kind = st.session_state[key], int if isinstance(low, int) else float
    if value is not None:
        inside = min(max(kind(value), low), kind(value) if high is None else high)
        if inside != value or type(value) is not kind:  # a draft of another release; never while somebody types
            st.session_state[key] = inside
    start: dict[str, Any] = {"value": None} if default is None else {}
    draw: Any = st.number_input  # one function for whole numbers and others, which its types keep apart
    return _kept(state, key, draw(label, low, high, key=key, **start, **more))


def choice(
    state: Brought, label: str, key: str, options: Sequence[T], default: T, words: Callable[[T], str], **more: Any
) -> T:
    """One of the options."""
    _start(state, key, default)
    if st.session_state[key] not in options:
        st.session_state[key] = default
    chosen: T = st.selectbox(label, options, format_func=words, key=key, **more)
    return _kept(state, key, chosen)


def several(state: Brought, label: str, key: str, options: Sequence[str], **more: Any) -> list[str]:
    """Some of the options; all of them at first."""
    _start(state, key, list(options))
    offered = [one for one in st.session_state[key] if one in options]
    if offered != list(st.session_state[key]):
        st.session_state[key] = offered
    return _kept(state, key, st.multiselect(label, options, key=key, **more))


def toggle(state: Brought, label: str, key: str, **more: Any) -> bool:
    """Yes or no; no at first."""
    _start(state, key, False)
    return _kept(state, key, st.toggle(label, key=key, **more))


def wrong(said: str) -> None:
    """What is wrong with the field above, safe Markdown."""
    st.caption(f":red[:material/error: {said}]")


def _start(state: Brought, key: str, default: Any) -> None:
    if key not in st.session_state:
        st.session_state[key] = state.fields.get(key, default)


def _kept(state: Brought, key: str, value: T) -> T:
    state.fields[key] = value
    return value
