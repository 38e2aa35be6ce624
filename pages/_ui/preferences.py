"""What this person likes to see, over reloads and days: columns, filters, what was put away. Read once per session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import streamlit as st

from pages._ui import loaders
from pages._ui.identity import current_user

T = TypeVar("T")
_STATE = "preferences"


def remembered(name: str, default: T) -> T:
    """What was remembered under `name`, else `default`; a value of another kind than the default does not count."""
    value = _mine().get(name, default)
    return value if default is None or isinstance(value, type(default)) else default


def remember(name: str, value: Any) -> None:
    """Keep a JSON value under `name`; None forgets it. Writes nothing when it is remembered already."""
    mine = _mine()
    if mine.get(name) == value:
        return
    loaders.ledger().set_preference(current_user(), name, value)
    mine[name] = value


def among(name: str, options: Sequence[T], default: T) -> T:
    """The remembered option, when it is still offered."""
    value: T | None = _mine().get(name)
    return value if value is not None and value in options else default


def several(name: str, options: Sequence[T], default: Sequence[T]) -> list[T]:
    """The remembered options that are still offered, in their order then; `default` when nothing was remembered."""
    value = _mine().get(name)
    return [one for one in value if one in options] if isinstance(value, list) else list(default)


def restore(key: str, value: Any) -> None:
    """Give the widget `key` its first value of this session: what `remembered`, `among` or `several` says."""
    if key not in st.session_state:
        st.session_state[key] = value


def save(name: str, key: str) -> None:
    """For `on_change=save, args=(name, key)`: remember what the widget says now."""
    value = st.session_state.get(key)
    remember(name, list(value) if isinstance(value, tuple) else value)


def _mine() -> dict[str, Any]:
    """What is remembered for this user. Another tab's changes are seen after a reload."""
    user = current_user()
    known: tuple[str, dict[str, Any]] | None = st.session_state.get(_STATE)
    if known is None or known[0] != user:
        known = st.session_state[_STATE] = (user, loaders.ledger().preferences(user))
    return known[1]
