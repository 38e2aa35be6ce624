"""New study, from the upload to the frozen promise: what each step says, keeps and refuses."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from pages_text import texts
from streamlit.testing.v1 import AppTest

from engine.jobs import submit as jobs
from engine.settings import settings
from storage.ledger import Ledger

MAIN = Path(__file__).parents[2] / "pages" / "_main.py"
FEATURES = list("abcde")


@pytest.fixture(autouse=True)
def _no_runner(monkeypatch):
    """Queued runs stay queued: what a runner does is the business of other tests."""
    monkeypatch.setattr(jobs, "ensure_runner", lambda *args: None)


def table(n_rows=1200):
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(rng.normal(size=(n_rows, 5)), columns=FEATURES)
    rows["b"] = np.where(np.arange(n_rows) % 2, 1, 2)
    return rows, rows.a * rows.b + 0.5 * rows.c + rng.normal(size=n_rows) * 0.3


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """model.txt, value.txt (a regression), rows.csv with text labels and regions, values.csv."""
    import lightgbm as lgb

    folder = tmp_path_factory.mktemp("own")
    rows, value = table()
    late = np.where(value > 0, "late", "early")
    settings_ = {"verbose": -1, "num_threads": 1, "seed": 1, "num_leaves": 7}
    for name, label, objective in (("model", value > 0, "binary"), ("value", value, "regression")):
        booster = lgb.train({**settings_, "objective": objective}, lgb.Dataset(rows, label.astype(float)), 20)
        booster.save_model(folder / f"{name}.txt")
    region = np.where(np.arange(len(rows)) < 12, "tiny", np.where(np.arange(len(rows)) % 2, "north", "south"))
    rows.assign(outcome=late, region=region).to_csv(folder / "rows.csv", index=False)
    rows.assign(target=value).to_csv(folder / "values.csv", index=False)
    return folder


def give(app, key, path):
    app.file_uploader(key=key).upload(path.name, path.read_bytes()).run()
    assert not app.exception, app.exception


def press(app, key):
    app.button(key=key).click().run()
    assert not app.exception, app.exception


def says(app):
    """What the page says, without the backslashes that make text plain."""
    return texts(app).replace(chr(92), "").replace("\u202f", " ")


def pairs(app):
    """The table of the model's inputs beside the file's columns."""
    return next(one.value for one in app.dataframe if "Model input" in one.value)


def address(app):
    return {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}


def reach_data(app, folder, model="model.txt", rows="rows.csv"):
    """Through uploads to the data step, before the check."""
    app.default_timeout = 180  # binding starts three confined children
    give(app, "ns-model-file", folder / model)
    press(app, "ns-model-next")
    give(app, "ns-data-file", folder / rows)


@pytest.fixture
def at_data(home, files, open_page):
    """The page with model and rows, before the check."""
    app = open_page("new_study.py")
    reach_data(app, files)
    return app


@pytest.fixture(scope="module")
def checked(files, tmp_path_factory):
    """(a home with model and rows that were checked once, the address of the draft)."""
    home = tmp_path_factory.mktemp("checked")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHETSTONE_HOME", str(home))
        patch.setenv("WHETSTONE_USER", "Asha")
        settings.cache_clear()
        app = AppTest.from_file(str(MAIN), default_timeout=30).run()
        app.switch_page("new_study.py").run()
        reach_data(app, files)
        press(app, "ns-check")
        app.checkbox(key="ns-classes-ok").check().run()
        press(app, "ns-data-next")
        found = address(app)
    settings.cache_clear()
    st.cache_resource.clear()
    return home, found


@pytest.fixture
def at_promise(home, checked, open_page):
    """The page on the promise, as a reload finds it."""
    shutil.copytree(checked[0], home, dirs_exist_ok=True)
    app = open_page("new_study.py", **checked[1])
    app.default_timeout = 180
    return app


def studies(home):
    ledger = Ledger.open(settings().database_url, home)
    try:
        return ledger.studies()
    finally:
        ledger.close()


def test_each_step_shows_what_it_found_and_what_is_next(at_data):
    app = at_data
    said = says(app)
    assert "Next: say what the columns are" in said
    assert "1,200 rows · 7 columns · read as CSV, encoding utf-8, separator comma" in said
    mapping = pairs(app)
    assert list(mapping["Model input"]) == FEATURES
    assert list(mapping["Cast"]) == ["", "int64 → float64", "", "", ""]
    press(app, "ns-check")
    said = says(app)
    assert "Matches the model" in said
    assert "kept back for the certificate" in said
    assert "late" in said
    assert "labels and scores belong together" in said
    assert "Next: confirm which label belongs to which score" in said
    assert app.button(key="ns-data-next").disabled
    app.segmented_control(key="pick-ns-step").set_value("Promise").run()
    assert app.button(key="ns-go").disabled
    app.segmented_control(key="pick-ns-step").set_value("Data").run()
    app.checkbox(key="ns-classes-ok").check().run()
    assert not app.button(key="ns-data-next").disabled


def test_the_promise_is_explained_and_becomes_a_study(at_promise, home):
    app = at_promise
    said = says(app)
    assert "median latency is **at least 3× shorter**" in said
    assert "at most 1.00 points** of ROC AUC" in said
    assert "region = tiny" in said
    assert "Too few rows" in said
    app.selectbox(key="ns-goal").set_value("cost").run()
    assert "A goal in cost needs this price" in says(app)
    assert app.button(key="ns-go").disabled
    app.number_input(key="ns-price").set_value(0.25).run()
    app.selectbox(key="ns-metric").set_value("accuracy").run()
    app.number_input(key="ns-drop").set_value(0.9).run()
    app.text_input(key="ns-name").set_value("Late <b>x</b>").run()
    said = says(app)
    assert "certify a band of 0.90 points in" in said
    assert "The smallest band" in said
    press(app, "ns-go")
    (study,) = studies(home)
    assert study.name == "Late <b>x</b>"
    band = study.promise.band
    assert (band.metric, band.max_drop, band.slices) == ("accuracy", pytest.approx(0.009), ("region",))
    assert (study.promise.goal.kind, study.price_per_hour) == ("cost", 0.25)
    assert study.source.data_name == "rows.csv"
    assert study.signature.classes == ("early", "late")


def test_another_order_of_the_classes_is_checked_at_once(at_promise):
    app = at_promise
    app.segmented_control(key="pick-ns-step").set_value("Data").run()
    key = next(one.key for one in app.data_editor if one.key.startswith("ns-classes-"))
    swapped = {0: {"Label in the file": "late"}, 1: {"Label in the file": "early"}}
    app.session_state[key] = {"edited_rows": {0: swapped[0]}, "added_rows": [], "deleted_rows": []}
    app.run()
    assert "late stands twice; every label belongs to one score" in says(app)
    app.session_state[key] = {"edited_rows": swapped, "added_rows": [], "deleted_rows": []}
    app.run()
    assert "no better than a guess. Is the order of the classes another one" in says(app)
    press(app, "ns-classes-swap")
    assert "labels and scores belong together" in says(app)
    assert not app.button(key="ns-data-next").disabled  # the order was chosen, so nothing is left to confirm


def test_nothing_is_lost_by_going_back_or_by_a_reload(at_promise, open_page):
    app = at_promise
    app.number_input(key="ns-drop").set_value(0.7).run()
    app.text_input(key="ns-name").set_value("Mine").run()
    app.segmented_control(key="pick-ns-step").set_value("Model").run()
    assert "model.txt" in says(app)
    app.segmented_control(key="pick-ns-step").set_value("Promise").run()
    assert app.number_input(key="ns-drop").value == 0.7
    again = open_page("new_study.py", **address(app))  # another session, as after a reload
    assert again.segmented_control(key="pick-ns-step").value == "Promise"
    assert again.number_input(key="ns-drop").value == 0.7
    assert again.text_input(key="ns-name").value == "Mine"
    assert "rows.csv" in says(again)
    fresh = open_page("new_study.py")
    (go,) = [one for one in fresh.button if one.key.startswith("ns-draft-go-")]
    go.click().run()
    assert fresh.text_input(key="ns-name").value == "Mine"


def test_another_model_keeps_what_was_said_about_the_columns(at_data, files):
    app = at_data
    key = next(one.key for one in app.data_editor if one.key.startswith("ns-roles-"))
    at = list(app.data_editor(key=key).value["Column"]).index("region")
    app.session_state[key] = {"edited_rows": {at: {"Role": "group"}}, "added_rows": [], "deleted_rows": []}
    app.run()
    app.segmented_control(key="pick-ns-step").set_value("Model").run()
    press(app, "ns-model-again")
    assert app.button(key="ns-model-keep")
    give(app, "ns-model-file", files / "value.txt")
    press(app, "ns-model-next")
    roles = next(one for one in app.data_editor if one.key.startswith("ns-roles-")).value
    assert dict(zip(roles["Column"], roles["Role"], strict=True))["region"] == "group"


def test_a_study_can_start_from_another_one(at_promise, open_page, home):
    app = at_promise
    app.number_input(key="ns-slice-drop").set_value(5.0).run()
    press(app, "ns-go")
    (first,) = studies(home)
    app = open_page("new_study.py", **{"from": first.id})
    said = says(app)
    assert f"Started from the study {first.name}" in said
    assert "Nothing else is missing" in said
    assert app.number_input(key="ns-slice-drop").value == 5.0
    assert "from" not in address(app)
    app.selectbox(key="ns-goal").set_value("p99").run()
    press(app, "ns-go")
    second = next(one for one in studies(home) if one.id != first.id)
    assert (second.eval_set_id, second.model_id) == (first.eval_set_id, first.model_id)
    assert second.promise.goal.kind == "p99"
    assert second.source == first.source


@pytest.mark.parametrize("ref", ["nothing", "../x", "a' or 1=1"])
def test_an_unknown_study_to_start_from_is_said(home, open_page, ref):
    app = open_page("new_study.py", **{"from": ref})
    assert "No study has the id" in app.error[0].value
    assert "Which model" in says(app)


def test_without_a_label_it_says_so_before_anything_is_bound(at_data, files, tmp_path):
    pd.read_csv(files / "rows.csv").rename(columns={"outcome": "churned"}).to_csv(tmp_path / "odd.csv", index=False)
    app = at_data
    press(app, "ns-data-again")
    give(app, "ns-data-file", tmp_path / "odd.csv")
    assert "No column is the label" in says(app)
    assert app.button(key="ns-check").disabled
    app.selectbox(key="ns-task").set_value("other").run()
    assert "No column is the label" not in says(app)


def test_what_does_not_meet_is_named_before_anything_is_bound(at_data, files, tmp_path):
    rows = pd.read_csv(files / "rows.csv").drop(columns="c")
    rows.to_csv(tmp_path / "short.csv", index=False)
    app = at_data
    press(app, "ns-data-again")
    give(app, "ns-data-file", tmp_path / "short.csv")
    said = says(app)
    assert "1 of them are not in the file: c" in said
    assert app.button(key="ns-check").disabled
    mapping = pairs(app)
    assert mapping.iloc[0]["Model input"] == "c"
    assert mapping.iloc[0]["Column in the file"] == "no such column"


def test_a_file_that_is_no_table_is_refused_with_a_sentence(home, files, open_page):
    app = open_page("new_study.py")
    app.default_timeout = 180
    give(app, "ns-model-file", files / "model.txt")
    press(app, "ns-model-next")
    app.file_uploader(key="ns-data-file").upload("rows.csv", b"a,b\n1,2,3,4\n\x00\x01").run()
    assert not app.exception
    assert app.error
    assert "Which evaluation rows" in says(app)
    assert list((home / "uploads").iterdir()) == []


def test_every_metric_of_the_task_is_offered_and_a_quantile_where_it_has_one(home, files, open_page):
    app = open_page("new_study.py")
    reach_data(app, files, "value.txt", "values.csv")
    press(app, "ns-check")
    press(app, "ns-data-next")
    metric = app.selectbox(key="ns-metric")
    assert metric.options[0] == "RMSE (proposed)"
    assert [one.split(":")[0] for one in metric.options[1:]] == ["RMSE", "Mean absolute error", "Pinball loss"]
    assert not any(one.key == "ns-tau" for one in app.number_input)
    metric.set_value("pinball").run()
    app.number_input(key="ns-tau").set_value(0.9).run()
    said = says(app)
    assert "pinball loss at τ = 0.9" in said
    assert "depends on how the errors move" in said


def test_what_is_known_here_can_be_taken_again(at_promise, open_page):
    app = at_promise
    press(app, "ns-go")
    app = open_page("new_study.py")
    app.segmented_control(key="pick-ns-model-way").set_value("Known here").run()
    known = app.selectbox(key="ns-known-model")
    assert known.options[0].startswith("model.txt · LightGBM · 20 trees")
    assert any(one.startswith("Sample: ") for one in known.options)
    press(app, "ns-known-model-go")
    press(app, "ns-model-next")
    app.segmented_control(key="pick-ns-data-way").set_value("Known here").run()
    assert app.selectbox(key="ns-known-data").options[0].startswith("rows.csv · of the study model")
    press(app, "ns-known-data-go")
    assert "What each column is" in says(app)
