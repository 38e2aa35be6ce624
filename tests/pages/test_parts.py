"""The pieces pages are made of: forms from schemas, figures, sentences."""

from datetime import UTC, datetime, timedelta
from typing import ClassVar, Literal

import pytest
from pydantic import Field
from streamlit.testing.v1 import AppTest

from engine.errors import InvalidRequest
from engine.plugin import Plugin, levers, make, runtimes
from engine.records import JobState, SliceQuality
from pages._ui.forms import numbers_in
from pages._ui.job_words import progress_text
from pages._ui.slice_map import slice_map


class EveryType(Plugin):
    """One field of each kind a plug-in may have."""

    title: ClassVar[str] = "Every type"
    accepts: ClassVar[frozenset[str]] = frozenset({"onnx"})
    flag: bool = Field(True, description="A switch.")
    n_rounds: int = Field(3, ge=1, le=9, description="A count.")
    keep_fraction: float = Field(0.5, gt=0, le=1, description="A share.")
    scope: Literal["per tensor", "per channel"] = Field("per channel", description="A choice.")
    sizes: tuple[int, ...] = Field((1, 32), description="Some sizes.")


def _form(module: str, name: str) -> None:
    import importlib

    import streamlit as st

    from pages._ui.forms import parameters

    plugin = getattr(importlib.import_module(module), name)
    st.session_state["out"] = parameters(plugin, "form")


def drawn(plugin):
    app = AppTest.from_function(_form, args=(plugin.__module__, plugin.__name__), default_timeout=20).run()
    assert not app.exception, app.exception
    return app


def test_a_form_draws_every_type_and_gives_the_defaults_back():
    app = drawn(EveryType)
    assert EveryType(**app.session_state["out"]) == EveryType()
    app.number_input(key="form-n_rounds").set_value(5)
    app.text_input(key="form-sizes").set_value("8, 64")
    app.selectbox(key="form-scope").select("per tensor")
    app.toggle(key="form-flag").set_value(False).run()
    changed = EveryType(**app.session_state["out"])
    assert (changed.n_rounds, changed.sizes, changed.scope, changed.flag) == (5, (8, 64), "per tensor", False)
    assert app.number_input(key="form-n_rounds").help == "A count."


@pytest.mark.parametrize("name", sorted({*levers(), *runtimes()}))
def test_every_plugin_of_the_catalogue_has_a_form(name):
    catalogue = levers() if name in levers() else runtimes()
    app = drawn(catalogue[name])
    assert make(catalogue, name, app.session_state["out"]) == catalogue[name]()


@pytest.mark.parametrize("text", ["", "a", "1, -2", "1.5"])
def test_lists_of_numbers_name_what_is_wrong(text):
    with pytest.raises(InvalidRequest, match="Items per call must be whole numbers"):
        numbers_in(text, "Items per call")


def test_progress_says_phase_percent_gone_and_left():
    start = datetime(2026, 1, 1, tzinfo=UTC)
    state = JobState(
        experiment_id="x", status="running", phase="time", progress=0.25, created_at=start, started_at=start
    )
    text = progress_text(state, start + timedelta(seconds=30)).replace("\u202f", " ")
    assert text == "timing · 25% · 30 s gone · about 90 s left".replace("90 s", "1 min 30 s")
    text = progress_text(state.model_copy(update={"progress": 0.999}), start + timedelta(seconds=30))
    assert text.endswith("nearly done")


def cell(value, drop, verdict):
    return SliceQuality(
        column="c", value=value, n_rows=500, baseline=0.9, candidate=0.8, drop=drop, verdict=verdict, reason=None
    )


def test_the_slice_map_tells_its_states_apart_without_colour():
    cells = [cell("a", 0.05, "outside"), cell("b", 0.0, "within band"), cell("d", None, "too few rows")]
    figure = slice_map([("v", cells)], 0.02, 100)
    said = [note.text for note in figure.layout.annotations]
    assert said == ["<b>✕ −5.00</b>", "0.00", "too few"]
    heat = next(trace for trace in figure.data if trace.type == "heatmap")
    assert [row[0] for row in heat.z] == [0, 2, None]
