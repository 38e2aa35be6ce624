"""An empty or a filled history, and the pages run on it without a browser."""

from pathlib import Path

import pytest
import streamlit as st
from page_history import add_run, make_study
from streamlit.testing.v1 import AppTest

from engine.jobs import submit
from engine.records import Recipe, Step
from engine.settings import settings
from storage.ledger import Ledger

MAIN = Path(__file__).parents[2] / "pages" / "_main.py"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty home for this test; no runner is started for what is queued here."""
    monkeypatch.setenv("WHETSTONE_HOME", str(tmp_path))
    monkeypatch.setenv("WHETSTONE_USER", "Asha")
    monkeypatch.delenv("WHETSTONE_DATABASE_URL", raising=False)
    monkeypatch.delenv("WHETSTONE_IMPORT_DIR", raising=False)
    monkeypatch.setattr(submit, "ensure_runner", lambda *args: None)
    settings.cache_clear()
    st.cache_data.clear()
    yield tmp_path
    settings.cache_clear()
    st.cache_resource.clear()


@pytest.fixture
def ledger(home):
    opened = Ledger.open(settings().database_url, home)
    yield opened
    opened.close()


@pytest.fixture
def open_page():
    """open_page("compare.py", study=…) -> the page after its first run."""

    def run(name="overview.py", **query):
        app = AppTest.from_file(str(MAIN), default_timeout=30)
        app.query_params.update(query)
        app.run()
        if name != "overview.py":
            app.switch_page(name)
            for key, value in query.items():
                app.query_params[key] = value
            app.run()
        assert not app.exception, app.exception
        return app

    return run


@pytest.fixture
def study(ledger):
    """A study with a frozen promise, its baseline, a variant that keeps the promise and one that misses it."""
    made = make_study(ledger, name="Flight delay")
    add_run(ledger, made, Recipe(), speedup=None)
    fewer = Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.3})
    add_run(ledger, made, Recipe(steps=(fewer,)), speedup=3.4, drop=0.004)
    onnx = Step(lever="export.lightgbm_to_onnx")
    add_run(ledger, made, Recipe(steps=(onnx,)), speedup=0.8, drop=0.0)
    add_run(ledger, made, Recipe(steps=(fewer, onnx)), speedup=4.1, drop=0.031)
    return made
