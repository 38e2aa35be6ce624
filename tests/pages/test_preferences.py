"""What a person likes to see comes back in another session, and only as far as it still makes sense."""

import pytest
from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from pages._ui import preferences

    columns = ["p50", "p99", "size"]
    preferences.restore("t-columns", preferences.several("columns", columns, ["p50"]))
    st.multiselect("Columns", columns, key="t-columns", on_change=preferences.save, args=("columns", "t-columns"))
    preferences.restore("t-sort", preferences.among("sort", ["p50", "size"], "p50"))
    st.selectbox("Sort", ["p50", "size"], key="t-sort", on_change=preferences.save, args=("sort", "t-sort"))
    st.write(repr(preferences.remembered("number", 1)))


@pytest.fixture
def session(ledger):
    def run():
        app = AppTest.from_function(page).run()
        assert not app.exception, app.exception
        return app

    return run


def test_a_choice_comes_back_in_another_session(session):
    first = session()
    assert first.multiselect(key="t-columns").value == ["p50"]
    first.multiselect(key="t-columns").set_value(["size", "p99"]).run()
    first.selectbox(key="t-sort").set_value("size").run()
    again = session()
    assert again.multiselect(key="t-columns").value == ["size", "p99"]
    assert again.selectbox(key="t-sort").value == "size"


def test_nothing_chosen_is_remembered_too(session):
    session().multiselect(key="t-columns").set_value([]).run()
    assert session().multiselect(key="t-columns").value == []


def test_what_is_no_longer_offered_or_of_another_kind_does_not_count(session, ledger):
    ledger.set_preference("Asha", "columns", ["gone", "size"])
    ledger.set_preference("Asha", "sort", "gone")
    ledger.set_preference("Asha", "number", "text")
    app = session()
    assert app.multiselect(key="t-columns").value == ["size"]
    assert app.selectbox(key="t-sort").value == "p50"
    assert app.markdown[0].value == "1"


def test_the_history_does_not_count_as_changed(session, ledger):
    before = ledger.version()
    session().selectbox(key="t-sort").set_value("size").run()
    assert ledger.preference("Asha", "sort") == "size"
    assert ledger.version() == before
