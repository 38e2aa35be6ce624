"""Draw the parameters of any lever or runtime as widgets. The only place that knows which widget shows which type."""

from __future__ import annotations

from typing import Any

import streamlit as st

from engine.errors import InvalidRequest
from engine.plugin import Plugin


def parameters(plugin: type[Plugin], key: str, given: dict[str, Any] | None = None) -> dict[str, Any]:
    """One widget per field; the values as they stand. Checking them is `engine.plugin.make`'s work.

    Raises InvalidRequest for a list of numbers that cannot be read.
    """
    fields = plugin.model_json_schema().get("properties", {})
    if not fields:
        st.caption("No settings.")
        return {}
    values = {}
    with st.grid(3, min_column_width=150):
        for name, spec in fields.items():
            start = (given or {}).get(name, spec.get("default"))
            values[name] = _widget(name, spec, start, f"{key}-{name}")
    return values


def label_of(name: str) -> str:
    """A field name as a person reads it."""
    return name.replace("_", " ").capitalize()


def numbers_in(text: str, what: str) -> list[int]:
    """'1, 32, 1024' as whole numbers. Raises InvalidRequest naming what was wrong."""
    parts = text.replace(",", " ").split()
    if not parts or not all(part.isdigit() for part in parts):
        raise InvalidRequest(f"{what} must be whole numbers separated by commas, got {text!r}")
    return [int(part) for part in parts]


def _widget(name: str, spec: dict[str, Any], start: Any, key: str) -> Any:
    label, meaning = label_of(name), spec.get("description")
    options = spec.get("enum") or ([spec["const"]] if "const" in spec else None)
    if options:
        first = options.index(start) if start in options else 0
        return st.selectbox(label, options, index=first, help=meaning, key=key, format_func=_words)
    kind = spec.get("type")
    if kind == "boolean":
        return st.toggle(label, value=bool(start), help=meaning, key=key)
    if kind == "integer":
        low, high = spec.get("minimum"), spec.get("maximum")
        return st.number_input(label, low, high, int(start), 1, help=meaning, key=key)
    if kind == "number":
        return _decimal(label, spec, float(start), meaning, key)
    text = st.text_input(label, value=", ".join(str(item) for item in start), help=meaning, key=key)
    return numbers_in(text, label)


def _decimal(label: str, spec: dict[str, Any], start: float, meaning: str | None, key: str) -> float:
    low = spec.get("minimum", spec.get("exclusiveMinimum"))
    high = spec.get("maximum", spec.get("exclusiveMaximum"))
    step = 0.05 if high is not None and high <= 1 else 0.5
    floor, ceiling = (None if bound is None else float(bound) for bound in (low, high))
    chosen = st.number_input(label, floor, ceiling, start, step, format="%.4g", help=meaning, key=key)
    return float(chosen)


def _words(value: Any) -> str:
    return str(value).replace("_", " ")
