"""Every page runs on an empty and on a filled history, and says the right things."""

import pytest
from page_history import HOSTILE, add_run, make_study
from pages_text import texts

from engine.jobs import submit as jobs
from engine.records import Annotation, Recipe, Step
from engine.settings import settings
from pages._ui.text import plain

PAGES = ["overview.py", "new_study.py", "study.py", "compare.py", "history.py", "experiment.py", "certificate.py"]


@pytest.fixture(autouse=True)
def _no_runner(monkeypatch):
    """Queued runs stay queued: what a runner does is the business of other tests."""
    monkeypatch.setattr(jobs, "ensure_runner", lambda *args: None)


@pytest.mark.parametrize("name", PAGES)
def test_pages_run_on_an_empty_history(home, open_page, name):
    open_page(name)


@pytest.mark.parametrize("name", PAGES)
def test_pages_run_on_a_filled_history(study, open_page, name):
    open_page(name, study=study.id)


@pytest.mark.parametrize("name", PAGES)
def test_names_are_shown_as_text_on_every_page(ledger, open_page, name):
    made = make_study(ledger, name=HOSTILE)
    run = add_run(ledger, made, Recipe(), speedup=None)
    failed = add_run(ledger, made, Recipe(steps=(Step(lever="x"),)), speedup=1, status="failed", message=HOSTILE)
    ledger.annotate(
        Annotation(experiment_id=run, tags=(HOSTILE[:40],), note=HOSTILE, who=HOSTILE[:40], when=made.created_at)
    )
    for query in ({"study": made.id}, {"id": run}, {"id": failed}):
        said = texts(open_page(name, **query))
        assert HOSTILE[:30] not in said
    if name not in ("new_study.py", "history.py", "certificate.py"):
        assert plain(HOSTILE)[:40] in texts(open_page(name, study=made.id, id=failed))


@pytest.mark.parametrize("name", ["study.py", "compare.py"])
@pytest.mark.parametrize("ref", ["nothing", "../../etc/passwd", "a' or 1=1", "x" * 500, ""])
def test_a_wrong_study_in_the_address_is_said(study, open_page, name, ref):
    app = open_page(name, study=ref)
    if ref:
        assert "No study has the id" in app.error[0].value
    else:
        assert not app.error
        assert app.query_params["study"] in (study.id, [study.id])


@pytest.mark.parametrize("ref", ["", "nothing", "../x", "01ARZ3NDEKTSV4RRFFQ69G5FAV"])
def test_a_wrong_experiment_in_the_address_is_said(study, open_page, ref):
    app = open_page("experiment.py", id=ref)
    assert "experiment" in app.error[0].value


def test_study_names_the_best_variant_that_keeps_the_promise(study, open_page):
    said = texts(open_page("study.py", study=study.id))
    assert "Fewer trees" in said
    assert "3.40× faster and loses 0.40" in said
    assert "not certified" in said


def test_a_lever_is_added_configured_and_queued_once(study, ledger, open_page):
    app = open_page("study.py", study=study.id)
    before = len(ledger.experiments(study_id=study.id))
    app.button(key="st-add-pruning-fewer_trees").click().run()
    assert not app.exception
    fields = [widget.key for widget in app.number_input]
    assert any("keep_fraction" in key for key in fields)
    app.button(key="st-go").click().run()
    assert not app.exception
    assert not app.error, app.error[0].value
    assert len(ledger.experiments(study_id=study.id)) == before + 1
    assert ledger.experiments(study_id=study.id)[-1].spec.recipe.steps[0].lever == "pruning.fewer_trees"


def test_levers_that_do_not_fit_say_why(study, open_page):
    said = texts(open_page("study.py", study=study.id))
    assert "this model is LightGBM" in said


def test_a_waiting_run_can_be_stopped(study, ledger, open_page):
    from engine.records import Choice, ExperimentSpec

    spec = ExperimentSpec(
        study_id=study.id, runtime=Choice(name="lightgbm_native"), workloads=(study.workload,), seed=9
    )
    run = ledger.add_experiment(spec, "Asha")
    app = open_page("study.py", study=study.id)
    app.button(key=f"st-stop-{run}").click().run()
    assert ledger.queue.state(run).status == "cancelled"


def test_a_failed_run_can_be_retried(study, ledger, open_page):
    failed = add_run(ledger, study, Recipe(steps=(Step(lever="x"),)), speedup=1, status="failed")
    app = open_page("experiment.py", id=failed)
    assert "Broken" in app.error[0].value
    app.button(key=f"ex-retry-{failed}").click().run()
    assert ledger.experiments(study_id=study.id)[-1].retry_of == failed


def test_the_import_folder_is_offered_only_where_it_is_set(home, open_page, monkeypatch, tmp_path):
    def ways(app):
        return app.segmented_control(key="pick-ns-model-way").options

    assert not any("Import folder" in way for way in ways(open_page("new_study.py")))
    folder = tmp_path / "import"
    folder.mkdir()
    (folder / "notes.txt").write_text("no model")
    monkeypatch.setenv("WHETSTONE_IMPORT_DIR", str(folder))
    settings.cache_clear()
    app = open_page("new_study.py")
    app.segmented_control(key="pick-ns-model-way").set_value("Import folder").run()
    assert app.selectbox(key="ns-model-import").options == ["notes.txt"]
    app.button(key="ns-model-import-go").click().run()
    assert app.error
    assert (folder / "notes.txt").exists()


def test_a_wrong_upload_is_refused_with_a_sentence_and_leaves_nothing(home, open_page):
    app = open_page("new_study.py")
    app.file_uploader(key="ns-model-file").upload("model.pkl", b"\x80\x04\x95" + b"\x00" * 20 + b".").run()
    assert not app.exception
    assert "ickle" in app.error[0].value
    assert app.error[0].value[0].isupper()
    assert "save" in app.code[0].value  # how to export instead
    assert list((home / "uploads").iterdir()) == []


def test_steps_that_are_not_reached_say_what_is_missing(home, open_page):
    app = open_page("new_study.py", step="Data")
    assert "Bring the model first" in texts(app)
    app.button(key="ns-data-missing").click().run()
    assert "Which model" in texts(app)


def test_the_original_is_not_queued_again_by_an_empty_recipe(study, open_page):
    app = open_page("study.py", study=study.id)
    assert app.button(key="st-go").disabled
    assert "Add “LightGBM to ONNX” to the recipe first" in texts(app)
    app.button(key="st-add-export-lightgbm_to_onnx").click().run()
    assert not app.button(key="st-go").disabled
