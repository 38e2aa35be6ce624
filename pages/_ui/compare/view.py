"""How a person looks at the comparison: kept in the fields, in the address, and what is a habit also over days."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from pages._ui.compare.order import ASKED, Filters
from pages._ui.preferences import remember, remembered

MEMORY = "compare"
MOST_CHOSEN, PER_PAGE = 10, 20
ORDERS = {"up": "Smallest first", "down": "Largest first"}
FILTERS = ("text", "statuses", "outcomes", "runs")
FOLDED = ("statuses", "outcomes", "archived", "intervals", "parameters", "figures", "facts")  # inside of popovers
_ADDRESS, _TOUCHED = "cm-address", "cm-touched"


@dataclass(frozen=True)
class Field:
    """One thing that can be set. first: where it starts; habit: remembered for this person; address: its name there."""

    key: str
    first: Any
    habit: bool = False
    address: str | None = None


FIELDS = {
    "batch": Field("cm-batch", None, address="batch"),
    "text": Field("cm-q", "", address="q"),
    "statuses": Field("pick-cm-status", [], address="status"),
    "outcomes": Field("pick-cm-verdict", [], address="verdict"),
    "archived": Field("cm-archived", False, address="archived"),
    "runs": Field("cm-runs", [], address="runs"),
    "chosen": Field("cm-chosen", [], address="chosen"),
    "x": Field("cm-x", "speedup", habit=True, address="x"),
    "y": Field("cm-y", "quality", habit=True, address="y"),
    "sort": Field("cm-sort", ASKED, habit=True, address="sort"),
    "order": Field("pick-cm-order", "up", habit=True, address="order"),
    "differs": Field("cm-differs", False, habit=True),
    "across": Field("cm-across", False, habit=True),
    "intervals": Field("cm-intervals", False, habit=True),
    "parameters": Field("cm-parameters", False, habit=True),
    "figures": Field("pick-cm-figures", None, habit=True),
    "facts": Field("pick-cm-facts", [], habit=True),
    "turn": Field("cm-turn", 0),  # grows whenever the pages begin anew
    "card": Field("cm-card", None),
}


def value(name: str) -> Any:
    """What a field says now."""
    return st.session_state[FIELDS[name].key]


def put(name: str, new: Any) -> None:
    """Set a field; before it is drawn, or from a callback."""
    st.session_state[FIELDS[name].key] = list(new) if isinstance(new, list) else new


def begin(study_id: str, first: Mapping[str, Any]) -> None:
    """Fill the fields: from the address when it changed, else from this session, else from habit.

    first: where fields start that depend on the study.
    """
    there = {"study": study_id, **_asked()}
    moved = there != st.session_state.get(_ADDRESS) and not st.session_state.get(_TOUCHED, False)
    moved = moved or st.session_state.get(_ADDRESS, {}).get("study") != study_id
    sent = len(there) > 1  # a view that was sent is shown as it was, whatever is usual here
    habits: Mapping[str, Any] = remembered(MEMORY, {})
    for name, field in FIELDS.items():
        if moved or field.key not in st.session_state:
            start, asked = first.get(name, field.first), there.get(field.address or "")
            usual = field.habit and not (sent and field.address)
            put(name, _read(asked, start) if asked is not None else habits.get(name, start) if usual else start)


def unfold() -> None:
    """Say again what the fields inside of popovers hold.

    The browser makes them when a popover is opened, and then knows only what the last run set: not set again, they
    would start empty and the first click would throw away what was chosen.
    """
    for name in FOLDED:
        put(name, value(name))


def settle(options: Mapping[str, Sequence[Any]], first: Mapping[str, Any]) -> None:
    """Drop what cannot be chosen (any more). options: field -> choices; first: as for `begin`."""
    for name, choices in options.items():
        known = value(name)
        kept = _offered(known, choices, first.get(name, FIELDS[name].first))
        if kept != known:
            put(name, kept)


def end(study_id: str, first: Mapping[str, Any]) -> dict[str, str]:
    """Write the address; remember habits where somebody touched a field. Returns what stands in the address."""
    wanted = {"study": study_id}
    for name, field in FIELDS.items():
        known = value(name)
        if field.address and known not in (first.get(name, field.first), None):
            wanted[field.address] = _written(known)
    for name in {field.address for field in FIELDS.values() if field.address}:
        if name not in wanted and name in st.query_params:
            del st.query_params[name]
    for name, text in wanted.items():
        if st.query_params.get(name) != text:
            st.query_params[name] = text
    st.session_state[_ADDRESS] = wanted
    if st.session_state.pop(_TOUCHED, False):
        remember(MEMORY, {name: value(name) for name, field in FIELDS.items() if field.habit})
    return wanted


def link(wanted: Mapping[str, str]) -> str:
    """The address of this view, to send to somebody."""
    return f"{st.context.url or 'compare'}?{urlencode(wanted)}"


def touch() -> None:
    """Callback of every field: what it says now goes before the address."""
    st.session_state[_TOUCHED] = True


def narrow() -> None:
    """Callback of every filter and of the order: begin at the first page again."""
    touch()
    put("turn", value("turn") + 1)


def page_key() -> str:
    """Key of the field with the page; a new one begins at the first page."""
    return f"cm-page-{value('turn')}"


def clear() -> None:
    """Callback: no filter any more."""
    for name in FILTERS:
        put(name, FIELDS[name].first)
    narrow()


def filtering() -> bool:
    """True when something is looked for."""
    return any(value(name) for name in FILTERS)


def filters() -> Filters:
    """What is looked for."""
    return Filters(
        text=" ".join((value("text") or "").split()),
        statuses=tuple(value("statuses") or ()),
        outcomes=tuple(value("outcomes") or ()),
        runs=tuple(value("runs")),
        archived=bool(value("archived")),
    )


def n_filters() -> int:
    """How many filters hide something, the search apart."""
    return sum(bool(value(name)) for name in ("statuses", "outcomes", "archived"))


def _asked() -> dict[str, str]:
    names = (field.address for field in FIELDS.values())
    return {name: st.query_params[name] for name in names if name and name in st.query_params}


def _read(text: str, like: Any) -> Any:
    """A value of the address, of the kind that the field starts with."""
    if isinstance(like, bool):
        return text == "yes"
    if isinstance(like, list):
        return [part for part in text.split(",") if part]
    if isinstance(like, int):
        return int(text) if text.isdecimal() and len(text) < 9 else like
    return text[:200]


def _written(known: Any) -> str:
    if isinstance(known, bool):
        return "yes"
    return ",".join(known) if isinstance(known, list | tuple) else str(known)


def _offered(known: Any, options: Sequence[Any], start: Any) -> Any:
    if isinstance(known, list | tuple):
        return [one for one in known if one in options]
    return known if known in options else start
