"""Every figure on every page has a name for who cannot see it, plain words, and a way to how it is computed."""

import pytest
from page_history import add_certificate, raw_samples
from pages_text import texts

from engine.records import ClassFigure, FoundSlice, Workload

HEADINGS = {"title", "header", "subheader"}
DRAWN = {"table", "dataframe", "plotly_chart"}
FOLDS = ("ex-recipe", "ex-quantiles", "ex-calls", "ex-batch", "ex-operators-box", "ex-classes", "ex-environment")


def written(node):
    """Help, text and cells of an element as one text."""
    return str(getattr(node, "proto", ""))


def parts(app):
    """The elements of the page in order, cut at every heading; the heading goes with what follows it."""
    found = [[]]
    for node in app.main:
        if node.type in HEADINGS:
            found.append([])
        found[-1].append(node)
    return found


def faults(app):
    """What lacks a name, or an explanation between its heading and the next one."""
    said = []
    for part in parts(app):
        explained = any("measuring#" in written(node) for node in part)
        for node in part:
            if node.type == "metric" and "measuring#" not in node.help:
                said.append(f"no help: tile {node.label}")
            if node.type in DRAWN and "alt: " not in written(node):
                said.append(f"no name: {node.type} {written(node)[:200]}")
            if node.type in DRAWN and not explained:
                said.append(f"not explained: {node.type} under {getattr(part[0], 'value', 'no heading')}")
    return said


@pytest.fixture
def everything(study, ledger, home):
    """A study whose variant has all that a run can have: raw calls, batch sizes, threads, classes, a certificate."""
    from page_history import add_run

    first = ledger.experiments(study_id=study.id)[1]
    quality = first.quality.model_copy(
        update={
            "classes": (ClassFigure(name="late", n_rows=900, recall=(0.9, 0.8), precision=(0.7, 0.7), f1=(0.8, 0.7)),),
            "found": (
                FoundSlice(
                    conditions={"origin": "JFK"}, n_rows=80, mean_loss=0.2, mean_loss_elsewhere=0.01, harm_p=0.01,
                    confirmed=True,
                ),
            ),
        }
    )  # fmt: skip
    run = add_run(
        ledger, study, first.spec.recipe, speedup=3.4, drop=0.004, batches=(1, 4, 16, 64), threads=(1, 2),
        samples=raw_samples(home, Workload(), n_pairs=3, n_calls=300, spread=0.2), quality=quality,
        environment={"processor": "test processor", "libraries": {"numpy": "2.4"}},
    )  # fmt: skip
    return study, run, add_certificate(ledger, study, run)


def test_overview_study_and_compare(everything, open_page):
    study, _, _ = everything
    assert faults(open_page("overview.py")) == []
    app = open_page("study.py", study=study.id)
    app.button(key="st-add-pruning-fewer_trees").click().run()
    assert faults(app) == []
    assert faults(open_page("compare.py", study=study.id)) == []


def test_an_experiment_with_everything_opened(everything, ledger, open_page):
    study, run, _ = everything
    baseline = ledger.experiments(study_id=study.id)[0].id
    for one in (run, baseline):
        app = open_page("experiment.py", id=one)
        assert faults(app) == []
        n_closed = len(app.table)
        for key in FOLDS:
            app.session_state[key] = True
        app.run()
        assert not app.exception
        assert len(app.table) > n_closed
        assert faults(app) == []


def test_a_certificate(everything, open_page):
    app = open_page("certificate.py", id=everything[2].id)
    assert "Measured speed" in texts(app) or len(app.table) > 4
    assert faults(app) == []


def test_the_test_finds_what_lacks_an_explanation(everything, ledger):
    from streamlit.testing.v1 import AppTest

    def page():
        import pandas as pd
        import plotly.graph_objects as go
        import streamlit as st

        st.subheader("Explained", help="[How](measuring#time)")
        st.table(pd.DataFrame({"a": [1]}), alt="named")
        st.subheader("Bare")
        st.table(pd.DataFrame({"a": [1]}))
        st.plotly_chart(go.Figure(), alt="named")
        st.metric("Bare", 1)

    found = faults(AppTest.from_function(page).run())
    assert [line.split(":")[0] for line in found] == ["no name", "not explained", "not explained", "no help"]
