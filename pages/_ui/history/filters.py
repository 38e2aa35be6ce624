"""Search, filters and order of the long list of runs: in the address, so that a view can be sent, and remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._ui.history.index import Filters
from pages._ui.preferences import remember, remembered

Address = dict[str, str | list[str]]
Choices = Mapping[str, Mapping[str, str]]
MANY = {"study": "Study", "lever": "Lever", "verdict": "Verdict", "who": "Who", "tag": "Tag"}
SHELVES = {"kept": "Kept", "archived": "Archived", "all": "All"}
KEYS = {
    "q": "hi-q", "status": "pick-hi-status", "shelf": "pick-hi-shelf", "sort": "hi-sort",
    **{name: f"hi-{name}" for name in MANY},
}  # fmt: skip
LISTS = ("status", *MANY)
MEMORY = "history.filters"
_ADDRESS, _TOUCHED = "hi-address", "hi-touched"


def filter_bar(choices: Choices, top: DeltaGenerator) -> Filters:
    """Draw the fields, filled from the address, else from this session, else from what was remembered.

    top: a row where order and shelf find their place.
    """
    _fill(choices)
    with top, st.container(horizontal=True, width="content", vertical_alignment="center"):
        st.selectbox(
            "Order", list(choices["sort"]), format_func=lambda one: choices["sort"][one], key=KEYS["sort"],
            persist_state="session", on_change=_touch, label_visibility="collapsed", width=190,
        )  # fmt: skip
        shelf()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text_input(
            "Search", placeholder="Search name, study, tag, note, person", label_visibility="collapsed",
            icon=":material/search:", width=320, key=KEYS["q"], persist_state="session", on_change=_touch,
        )  # fmt: skip
        st.pills(
            "Status", list(choices["status"]), format_func=lambda one: choices["status"][one], selection_mode="multi",
            label_visibility="collapsed", key=KEYS["status"], persist_state="session", on_change=_touch,
        )  # fmt: skip
    with st.grid(len(MANY), min_column_width=150):
        for name, label in MANY.items():
            _several(name, label, choices[name])
    wanted = _read()
    _keep(_address(wanted))
    return wanted


def shelf() -> None:
    """Kept, archived, or all."""
    st.segmented_control(
        "Show", list(SHELVES), format_func=lambda one: SHELVES[one], key=KEYS["shelf"], required=True,
        label_visibility="collapsed", persist_state="session", on_change=_touch,
    )  # fmt: skip


def clear() -> None:
    """Callback: show everything again, in the order chosen."""
    for name in ("q", *LISTS, "shelf"):
        st.session_state[KEYS[name]] = _start(name)
    _touch()


def active(wanted: Filters) -> bool:
    """True when something hides runs."""
    return bool(wanted.q) or any(getattr(wanted, name) for name in LISTS)


def _several(name: str, label: str, options: Mapping[str, str]) -> None:
    st.multiselect(
        label, list(options), format_func=lambda one: options.get(one, one), key=KEYS[name], placeholder=label,
        label_visibility="collapsed", persist_state="session", on_change=_touch,
    )  # fmt: skip


def _touch() -> None:
    st.session_state[_TOUCHED] = True


def _fill(choices: Choices) -> None:
    """A changed address wins: a link that was opened, or the way back."""
    there: Address = {name: st.query_params.get_all(name) for name in KEYS if name in st.query_params}
    if there and there != st.session_state.get(_ADDRESS):
        _set(there, choices)
    elif KEYS["q"] not in st.session_state:
        _set(remembered(MEMORY, {}), choices)
    for name in LISTS:  # what can be chosen may have gone meanwhile
        chosen = st.session_state[KEYS[name]] or []
        if not all(one in choices[name] for one in chosen):
            st.session_state[KEYS[name]] = [one for one in chosen if one in choices[name]]


def _set(asked: Mapping[str, Any], choices: Choices) -> None:
    """Put what was asked for into the fields, as far as it can be chosen."""
    for name, key in KEYS.items():
        values = asked.get(name, [])
        values = [str(one) for one in (values if isinstance(values, list) else [values])]
        offered = SHELVES if name == "shelf" else choices.get(name)
        kept = values if offered is None else [one for one in values if one in offered]
        st.session_state[key] = kept if name in LISTS else kept[0] if kept else _start(name)


def _start(name: str) -> Any:
    return [] if name in LISTS else getattr(Filters(), name)


def _read() -> Filters:
    def many(name: str) -> tuple[str, ...]:
        return tuple(st.session_state[KEYS[name]] or ())

    state = st.session_state
    return Filters(
        q=(state[KEYS["q"]] or "").strip(), sort=state[KEYS["sort"]], shelf=state.get(KEYS["shelf"]) or "kept",
        **{name: many(name) for name in LISTS},
    )  # fmt: skip


def _address(wanted: Filters) -> Address:
    """Only what is not as at first, so that the address of the whole list is short."""
    first = asdict(Filters())
    return {
        name: [*value] if isinstance(value, tuple) else [value]
        for name, value in asdict(wanted).items()
        if value != first[name]
    }


def _keep(address: Address) -> None:
    there: Sequence[str] = [name for name in KEYS if name in st.query_params]
    if address != {name: st.query_params.get_all(name) for name in there}:
        for name in there:
            del st.query_params[name]
        for name, values in address.items():
            st.query_params[name] = values
    st.session_state[_ADDRESS] = address
    if st.session_state.pop(_TOUCHED, False):
        remember(MEMORY, address)
