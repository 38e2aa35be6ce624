"""The Study page: the original in figures, the request around the model, the promise, the recipe, the queue."""

import re

import pytest
from page_history import HOSTILE, add_certificate, add_run, make_study
from pages_text import texts

from engine.jobs import submit as jobs
from engine.records import Choice, ExperimentSpec, Goal, Recipe, Step, Workload
from pages._ui.job_words import ordinal, waits_for

FEWER, ONNX, INT8 = "pruning.fewer_trees", "export.lightgbm_to_onnx", "quantisation.int8_dynamic"


@pytest.fixture(autouse=True)
def _no_runner(monkeypatch):
    """Queued runs stay queued: what a runner does is the business of other tests."""
    monkeypatch.setattr(jobs, "ensure_runner", lambda *args: None)


@pytest.fixture
def page(study, open_page):
    """page(start=…) -> the Study page of the filled history."""
    return lambda **query: open_page("study.py", study=study.id, **query)


def said(app):
    return texts(app).replace("\u202f", " ")


def add(app, *levers):
    for lever in levers:
        app.button(key=f"st-add-{lever.replace('.', '-')}").click().run()
        assert not app.exception
    return app


def queue(ledger, study, seed):
    """A run that waits."""
    spec = ExperimentSpec(
        study_id=study.id, runtime=Choice(name="lightgbm_native"), workloads=(study.workload,), seed=seed
    )
    return ledger.add_experiment(spec, "Asha")


# ---------------------------------------------------------------- the original in figures
def tiles(app):
    return {tile.label: (tile.value.replace("\u202f", " "), tile.delta.replace("\u202f", " ")) for tile in app.metric}


def test_every_figure_has_an_interval_or_a_reason(page):
    found = tiles(page())
    assert found["p50 latency"] == ("2.40 ms", "± 72.0 µs")
    assert found["p99 latency"] == ("–", "2,000 calls: too few")
    assert found["First call"] == ("9.00 ms", "of a fresh process")
    assert found["Load"][0] == "40.0 ms"
    assert found["Compressed"][0] == "900 kB"
    assert found["Cost per million"][1] == "at full use"
    assert found["ROC AUC"] == ("91.34%", "4,000 rows")
    assert found["Auto batch"] == ("–", "not looked for")
    assert len(found) == 12
    assert all(tile.help for tile in page().metric)


def test_before_the_first_figure_the_tiles_are_there_already(ledger, open_page):
    made = make_study(ledger, name="New")
    found = tiles(open_page("study.py", study=made.id))
    assert len(found) == 12
    assert set(found.values()) == {("–", "not measured yet")}


def test_a_baseline_that_was_stopped_is_said_with_the_way_on(ledger, open_page):
    made = make_study(ledger, name="New")
    queue(ledger, made, 0)
    app = open_page("study.py", study=made.id)
    assert "The model is a part, not measured yet, of a" in said(app)
    run = ledger.experiments(study_id=made.id)[0]
    ledger.queue.cancel(run.id)
    app.run()
    text = said(app)
    assert "The baseline was stopped" in text
    assert "press **Retry** in the queue" in text
    assert "the original is measured already" not in text


def test_the_dearest_operators_are_named(page):
    table = next(one.value for one in page().table if "Operator" in one.value)
    assert list(table["Share"]) == ["90%", "10%"]
    assert table["Operator"].iloc[1] == "Cast"


# ---------------------------------------------------------------- the request around the model
def test_the_request_is_remembered_and_stands_beside_every_speed_up(page, ledger, study, open_page):
    app = page()
    assert "for the whole request" not in said(app)
    app.number_input(key=f"st-request-{study.id}").set_value(24.0).run()
    assert ledger.study_annotation(study.id).request_ms == 24.0
    assert ledger.study_annotation(study.id).who == "Asha"
    again = open_page("study.py", study=study.id)  # another session
    assert again.number_input(key=f"st-request-{study.id}").value == 24.0
    text = said(again)
    assert "The model is 10% of the request, so optimising it can give at most 1.11×" in text
    assert "A model 3× faster makes the request 1.07× faster" in text
    assert "0.3) is 3.40× faster (1.08× for the whole request) and loses 0.40" in text.replace("\\", "")
    assert "1.25× slower (0.976× for the whole request)" in text  # in the queue
    app = again
    app.number_input(key=f"st-request-{study.id}").set_value(None).run()
    assert ledger.study_annotation(study.id).request_ms is None
    assert "for the whole request" not in said(app)


def test_what_somebody_else_says_of_the_request_is_seen(page, ledger, study):
    app = page()
    ledger.set_request_ms(study.id, 48.0, "Ravi")
    app.run()
    assert app.number_input(key=f"st-request-{study.id}").value == 48.0
    assert "The model is 5% of the request" in said(app)


def test_a_request_shorter_than_its_model_is_refused_in_words(page, study):
    app = page()
    app.number_input(key=f"st-request-{study.id}").set_value(1.0).run()
    assert "A request of 1.00 ms cannot hold a call of 2.40 ms" in said(app)
    assert "for the whole request" not in said(app)


# ---------------------------------------------------------------- the promise
def promise_of(app):
    table = next(one.value for one in app.table if "Goal" in one.value.to_string())
    return table.to_string()


def test_a_frozen_promise_shows_its_hash_who_keeps_it_and_what_is_left(page, ledger, study):
    run = next(one for one in ledger.experiments(study_id=study.id) if one.comparisons)
    add_certificate(ledger, study, run.id)
    app = page()
    assert "2 of 3** left" in promise_of(app)
    assert f"experiment?id={run.id}" in promise_of(app)
    assert f"SHA-256 {study.promise.fingerprint[:12]}" in said(app)
    assert not [one for one in app.button if one.key == "st-promise-save"]


def test_an_open_promise_can_be_changed_and_a_frozen_one_says_no(ledger, open_page):
    made = make_study(ledger, name="Open")
    app = open_page("study.py", study=made.id)
    assert "until then it may change" in said(app)
    app.number_input(key="st-factor").set_value(2.0)
    app.number_input(key="st-drop").set_value(0.5)
    app.button(key="st-promise-save").click().run()
    assert not app.error
    changed = ledger.study(made.id).promise
    assert changed.goal == Goal(kind="p50", factor=2.0)
    assert (changed.band.max_drop, changed.band.slices) == (0.005, ("origin",))
    add_run(ledger, made, Recipe(), speedup=None)  # freezes it, while the form is open
    app.number_input(key="st-factor").set_value(1.5)
    app.button(key="st-promise-save").click().run()
    assert ledger.study(made.id).promise == changed


# ---------------------------------------------------------------- levers
def test_cards_say_what_to_expect_and_why(page):
    app = page()
    text = said(app)
    assert ":material/trending_down: Likely faster" in [one.value for one in app.markdown] or "Likely faster" in text
    assert "Time falls about in step with the trees" in text
    assert "**Helps**" in text
    assert "**Hurts**" in text
    assert "**Source**" in text


def test_levers_are_filtered_by_family_and_the_far_ones_shown_when_asked_for(page):
    def offered():
        return {one.key for one in app.button if one.key.startswith("st-add-")}

    app = page()
    fitting, text = offered(), said(app)
    assert "Add “LightGBM to ONNX” to the recipe first" in text
    assert "PyTorch to ONNX" not in text
    app.button_group(key="pick-st-levers").set_value("pruning").run()
    assert offered() == {key for key in fitting if key.startswith("st-add-pruning")}
    app.button_group(key="pick-st-levers").set_value("All").run()
    assert offered() == fitting
    assert "PyTorch to ONNX" in said(app)
    assert "After LightGBM to ONNX: no MatMul/Conv inside" in said(app).replace("\\", "").replace("; after", ". After")


# ---------------------------------------------------------------- the recipe
def steps(app):
    found = (re.match(r"\*\*\d+  (.+?)\*\*", one.value) for one in app.markdown)
    return [one[1] for one in found if one]


def test_steps_change_places_and_one_goes_without_the_others(page):
    app = add(page(), FEWER, ONNX)
    assert steps(app) == ["Fewer trees", "LightGBM to ONNX"]
    later = next(one for one in app.button if one.key.startswith("st-later-") and not one.disabled)
    later.click().run()
    assert steps(app) == ["LightGBM to ONNX", "Fewer trees"]
    assert "Does not fit here" in said(app)
    assert app.button(key="st-go").disabled
    assert "A step does not fit yet" in said(app)
    next(one for one in app.button if one.key.startswith("st-remove-")).click().run()
    assert steps(app) == ["Fewer trees"]
    assert not app.button(key="st-go").disabled


def test_what_an_exported_forest_cannot_do_is_said_before_it_is_queued(page, ledger, study):
    app = add(page(), ONNX)
    app.button_group(key="pick-st-levers").set_value("All").run()
    assert f"st-add-{INT8.replace('.', '-')}" not in {one.key for one in app.button}
    assert "No MatMul/Conv inside" in said(app).replace("\\", "")


def test_a_run_is_used_as_a_start_with_everything_it_had(ledger, study, open_page):
    steps_given = (Step(lever=FEWER, params={"keep_fraction": 0.25}), Step(lever=ONNX))
    spec = ExperimentSpec(
        study_id=study.id,
        recipe=Recipe(steps=steps_given),
        runtime=Choice(name="onnxruntime_cpu", params={"optimisation": "basic"}),
        workloads=(Workload(batch_size=8), Workload(batch_size=24)),
        preset="strict",
    )
    run = ledger.add_experiment(spec, "Asha")
    ledger.queue.cancel(run)
    app = open_page("study.py", study=study.id, start=run)
    assert "start" not in app.query_params
    assert steps(app) == ["Fewer trees", "LightGBM to ONNX"]
    app.button(key="st-go").click().run()
    assert not app.error, app.error[0].value
    made = [one for one in ledger.experiments(study_id=study.id) if one.status == "queued"]
    assert made[-1].spec == spec


@pytest.mark.parametrize("start", ["nothing", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "../x"])
def test_an_unknown_start_is_said_and_leaves_the_recipe_alone(page, start):
    app = page(start=start)
    assert "No run has the id" in app.toast[0].value
    assert steps(app) == []


def test_a_start_with_a_lever_that_is_gone_says_which(page, ledger, study):
    run = add_run(ledger, study, Recipe(steps=(Step(lever="gone.lever"),)), speedup=1, status="failed")
    assert "gone" in page(start=run).toast[0].value


def test_the_grid_shades_what_was_timed_of_this_recipe_alone(ledger, study, page):
    half = Recipe(steps=(Step(lever=FEWER),))
    add_run(ledger, study, half, speedup=2, batches=(1, 4))
    app = add(page(), FEWER)
    app.button_group(key=f"pick-st-batches-{study.id}").set_value([4, 16, 64]).run()
    grid = next(one.value for one in app.table if "Batch 1" in one.value)
    row = grid.iloc[0].to_dict()
    assert "check" in row["Batch 1"]
    assert "again" not in row["Batch 1"]
    assert "again" in row["4"]
    assert "new" in row["16"]
    assert "for one run of 3 cells" in said(app)
    app.button(key="st-batches-new").click().run()
    assert app.button_group(key=f"pick-st-batches-{study.id}").value == [16, 64]


def test_another_parameter_of_the_runtime_is_another_recipe(ledger, study, page):
    onnx = Recipe(steps=(Step(lever=ONNX),))
    add_run(ledger, study, onnx, speedup=2, batches=(1, 4))  # in LightGBM's own runtime, as the fixture says
    app = add(page(), ONNX)
    app.button_group(key=f"pick-st-batches-{study.id}").set_value([1, 4, 16]).run()
    grid = next(one.value for one in app.table if "Batch 1" in one.value)
    assert "check" not in grid.to_string()


# ---------------------------------------------------------------- the queue
def test_waiting_runs_have_a_place_among_all_studies(ledger, study, page):
    other = make_study(ledger, name="Other", study_id="study0002")
    queue(ledger, other, 1)
    mine = queue(ledger, study, 2)
    text = said(page())
    assert "Queued, 2nd" in text
    assert "Starts after the 1 before it" in text
    assert ledger.queue.state(mine).status == "queued"


@pytest.mark.parametrize(("place", "text"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (22, "22nd")])
def test_places(place, text):
    assert ordinal(place) == text


def test_why_a_run_waits():
    assert waits_for(1, running=True) == "Next: starts when a run ends."
    assert waits_for(1, running=False) == "Next: the runner is about to take it."
    assert waits_for(3, running=True) == "Starts after the 2 before it."


def test_a_running_job_says_phase_percent_and_its_last_line(ledger, study, page):
    run = queue(ledger, study, 3)
    claimed = ledger.queue.claim("test:1", 60.0)
    ledger.queue.touch(run, claimed.attempt, 60.0, phase="time", progress=0.4, log_lines=["pair 3 of 10", HOSTILE])
    app = page()
    bar = app.get("progress")[0]
    assert "timing · 40%" in bar.proto.text
    assert HOSTILE[:20] not in texts(app)
    ledger.queue.touch(run, claimed.attempt, 60.0, phase="waiting", message="waiting for the machine")
    app.run()
    assert "waiting for the machine · 40%" in app.get("progress")[0].proto.text
    assert "Another run has the machine" in said(app)
    app.session_state[f"st-log-{run}"] = True
    app.run()
    assert "pair 3 of 10" in app.code[0].value


def test_the_end_of_a_run_is_announced_once(ledger, study, page):
    app = page()
    spec = ExperimentSpec(
        study_id=study.id, recipe=Recipe(steps=(Step(lever=FEWER),)), runtime=Choice(name="lightgbm_native"),
        workloads=(study.workload,),
    )  # fmt: skip
    run = ledger.add_experiment(spec, "Ravi")
    app.run()
    assert not app.toast
    claimed = ledger.queue.claim("test:1", 60.0)
    from engine.records import Failure

    failure = Failure(reason="memory", message="stopped at 3.10 GB of memory; its limit is 3.00 GB")
    ledger.queue.finish(run, claimed.attempt, "failed", failure=failure)
    app.run()
    assert "Stopped at 3.10 GB" in app.toast[0].value.replace("\\", "")
    text = said(app).replace("\\", "")
    assert "Likely cause:" in text
    assert "**Next:** use it as a start with smaller batch sizes" in text
    app.run()
    assert not app.toast
