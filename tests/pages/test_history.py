"""History: search, filters in the address and in memory, ticks, tags, notes of two people, archive, studies."""

from datetime import UTC, datetime

import pytest
from page_history import add_run, make_study
from pages_text import texts

from engine.errors import Conflict
from engine.records import Annotation, Choice, ExperimentSpec, Recipe, Step, StudyAnnotation
from pages._ui.history.runs import table_key

FEWER, ONNX = Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.3}), Step(lever="export.lightgbm_to_onnx")


@pytest.fixture
def second(ledger, study):
    """Another study, by somebody else, with a run that is certified to miss nothing and one that failed."""
    made = make_study(ledger, name="Churn", study_id="study0002")
    add_run(ledger, made, Recipe(), speedup=None)
    add_run(ledger, made, Recipe(steps=(ONNX,)), speedup=1, status="failed", message="no such operator")
    return made


def names(app):
    return list(app.dataframe[0].value["Run"]) if app.dataframe else []


def tick(app, *rows):
    """Tick rows of the table as it stands; run again."""
    app.session_state[app.dataframe[0].key] = {"selection": {"rows": list(rows), "columns": [], "cells": []}}
    return app.run()


def note(run, **fields):
    return Annotation(experiment_id=run.id, **{"who": "Ravi", "when": datetime.now(UTC), **fields})


# ---------------------------------------------------------------- finding
def test_it_finds_by_words_and_says_when_nothing_matches(study, open_page):
    app = open_page("history.py")
    assert len(names(app)) == 4
    app.text_input(key="hi-q").input("fewer onnx").run()
    assert len(names(app)) == 1
    app.text_input(key="hi-q").input("zebra").run()
    assert "No runs match" in texts(app)
    app.button(key="hi-clear").click().run()
    assert len(names(app)) == 4


@pytest.mark.parametrize(
    ("key", "chosen", "n_found"),
    [
        ("hi-study", ["study0002"], 2),
        ("hi-lever", ["Fewer trees"], 2),
        ("hi-who", ["Asha"], 6),
        ("hi-tag", ["ship"], 1),
        ("hi-verdict", ["Meets the promise"], 1),
        ("hi-verdict", ["Misses the promise", "Baseline"], 4),
        ("hi-verdict", ["Slower"], 1),
    ],
)
def test_every_filter_leaves_what_it_says(study, second, ledger, open_page, key, chosen, n_found):
    ledger.annotate(note(ledger.summaries()[1], tags=("ship",)))
    app = open_page("history.py")
    app.multiselect(key=key).set_value(chosen).run()
    assert not app.exception
    assert len(names(app)) == n_found


def test_states_filter_too_and_a_running_job_is_running(study, second, ledger, open_page):
    spec = ExperimentSpec(
        study_id=study.id, runtime=Choice(name="lightgbm_native"), workloads=(study.workload,), seed=9
    )
    ledger.add_experiment(spec, "Asha")
    ledger.queue.claim("test:1", 60.0)
    app = open_page("history.py")
    assert app.dataframe[0].value["Result"].iloc[0] == ["Running"]
    app.pills(key="pick-hi-status").set_value(["failed", "running"]).run()
    assert len(names(app)) == 2


@pytest.mark.parametrize(
    ("sort", "first"),
    [("newest", "Fewer trees (keep fraction 0.3) → "), ("oldest", "Original"), ("speedup", "Fewer trees (keep "),
     ("p50", "Fewer trees (keep "), ("name", "Fewer trees (keep ")],
)  # fmt: skip
def test_every_order_begins_where_it_says(study, open_page, sort, first):
    app = open_page("history.py", sort=sort)
    assert app.selectbox(key="hi-sort").value == sort
    assert names(app)[0].startswith(first)
    assert len(names(app)) == 4


def test_what_was_not_measured_comes_last(study, second, open_page):
    app = open_page("history.py", sort="speedup")
    speedups = list(app.dataframe[0].value["Speed-up"])
    assert speedups[0] == pytest.approx(4.1)
    assert speedups[-1] != speedups[-1]  # the failed one


# ---------------------------------------------------------------- address and memory
def test_a_link_opens_the_view_it_names(study, second, open_page):
    app = open_page("history.py", q="churn", status="failed")
    assert app.text_input(key="hi-q").value == "churn"
    assert names(app) == ["LightGBM to ONNX"]


def test_the_address_follows_the_filters(study, second, open_page):
    app = open_page("history.py")
    app.text_input(key="hi-q").input("fewer").run()
    app.multiselect(key="hi-verdict").set_value(["Faster"]).run()
    assert dict(app.query_params) == {"q": "fewer", "verdict": "Faster"}
    app.text_input(key="hi-q").input("").run()
    app.multiselect(key="hi-verdict").set_value([]).run()
    assert dict(app.query_params) == {}


@pytest.mark.parametrize(
    "query", [{"study": "nothing"}, {"status": "odd"}, {"sort": "odd"}, {"shelf": "odd"}, {"tag": "x"}]
)
def test_what_cannot_be_chosen_is_left_out(study, open_page, query):
    app = open_page("history.py", **query)
    assert len(names(app)) == 4


def test_filters_come_back_in_another_session_and_a_link_does_not_change_them(study, second, open_page):
    app = open_page("history.py")
    app.text_input(key="hi-q").input("fewer").run()
    assert len(names(open_page("history.py"))) == 2
    linked = open_page("history.py", q="original")
    assert names(linked) == ["Original", "Original"]
    assert len(names(open_page("history.py"))) == 2


# ---------------------------------------------------------------- what is ticked
def test_ticked_runs_of_one_study_are_compared(study, second, open_page):
    app = open_page("history.py", study=study.id)
    tick(app, 0, 2)
    assert "2 of 4 ticked" in texts(app)
    link = next(one.proto for one in app.get("page_link") if one.proto.label == "Compare these")
    assert f"study={study.id}" in link.query_string
    assert link.query_string.count("%2C") == 1


def test_runs_of_two_studies_are_not_compared_and_it_says_why(study, second, open_page):
    app = open_page("history.py")
    tick(app, 0, 5)
    assert not [one for one in app.get("page_link") if one.proto.label == "Compare these"]
    assert app.button(key="hi-compare").disabled
    assert "several studies" in app.button(key="hi-compare").help


def test_a_tick_does_not_move_to_a_run_that_came_later(study, ledger, open_page):
    app = open_page("history.py")
    tick(app, 0)
    assert "1 of 4 ticked" in texts(app)
    add_run(ledger, study, Recipe(steps=(Step(lever="x"),)), speedup=1, status="failed")
    app.run()
    assert "5 runs" in texts(app)
    assert table_key(["a"]) != table_key(["a", "b"])


def test_several_are_archived_and_restored(study, ledger, open_page):
    app = open_page("history.py")
    tick(app, 0, 1)
    app.button(key="hi-archive").click().run()
    assert len(names(app)) == 2
    assert [one.archived for one in ledger.annotations().values()] == [True, True]
    app.segmented_control(key="pick-hi-shelf").set_value("archived").run()
    assert len(names(app)) == 2
    assert all("Archived" in words for words in app.dataframe[0].value["Result"])
    tick(app, 0, 1)
    app.button(key="hi-restore").click().run()
    assert names(app) == []
    app.segmented_control(key="pick-hi-shelf").set_value("kept").run()
    assert len(names(app)) == 4


def test_a_tag_is_added_to_several_and_removed(study, ledger, open_page):
    ledger.annotate(note(ledger.summaries()[-1], note="keep me", tags=("old",)))
    app = open_page("history.py")
    tick(app, 0, 1)
    app.text_input(key="hi-new-tag").input(" ship ")
    app.button(key="hi-tag-add").click().run()
    found = ledger.annotations()
    assert sorted(one.tags for one in found.values()) == [("old", "ship"), ("ship",)]
    assert "keep me" in [one.note for one in found.values()]
    tick(app, 0)
    app.text_input(key="hi-new-tag").input("ship")
    app.button(key="hi-tag-remove").click().run()
    assert sorted(one.tags for one in ledger.annotations().values()) == [("old",), ("ship",)]


# ---------------------------------------------------------------- notes
def opened(app, run):
    return f"hi-note-{run.id}", f"hi-save-{run.id}"


def test_a_note_and_tags_are_saved(study, ledger, open_page):
    run = ledger.summaries()[-1]
    app = tick(open_page("history.py"), 0)
    app.multiselect(key=f"hi-tags-{run.id}").set_value(["a"])
    app.text_area(key=f"hi-note-{run.id}").input("mine")
    app.button(key=f"hi-save-{run.id}").click().run()
    assert (ledger.annotation(run.id).note, ledger.annotation(run.id).tags) == ("mine", ("a",))
    assert ledger.annotation(run.id).who == "Asha"


def test_a_second_writer_sees_both_texts_and_loses_neither(study, ledger, open_page):
    run = ledger.summaries()[-1]
    app = tick(open_page("history.py"), 0)
    app.text_area(key=f"hi-note-{run.id}").input("mine")
    ledger.annotate(note(run, note="theirs **bold**", tags=("t",)))
    app.button(key=f"hi-save-{run.id}").click().run()
    assert "Ravi" in app.error[0].value
    assert [block.value for block in app.code] == ["theirs **bold**"]
    assert app.text_area(key=f"hi-note-{run.id}").value == "mine"
    assert ledger.annotation(run.id).note == "theirs **bold**"
    app.button(key="hi-both").click().run()
    assert app.text_area(key=f"hi-note-{run.id}").value == "theirs **bold**\n\nmine"
    assert app.multiselect(key=f"hi-tags-{run.id}").value == ["t"]
    app.button(key=f"hi-save-{run.id}").click().run()
    assert not app.error
    assert ledger.annotation(run.id).note == "theirs **bold**\n\nmine"


def test_after_being_told_ones_own_text_may_be_saved_or_theirs_taken(study, ledger, open_page):
    run = ledger.summaries()[-1]
    for key, mine, left in ((f"hi-save-{run.id}", "mine", "mine"), ("hi-take", "again mine", "theirs")):
        app = tick(open_page("history.py"), 0)
        app.text_area(key=f"hi-note-{run.id}").input(mine)
        stored = ledger.annotation(run.id)
        ledger.annotate(note(run, note="theirs"), expected_when=stored.when if stored else None)
        app.button(key=f"hi-save-{run.id}").click().run()
        app.button(key=key).click().run()
        assert app.text_area(key=f"hi-note-{run.id}").value == left
        assert ledger.annotation(run.id).note == left
        assert not app.code


def test_a_field_that_nobody_touched_follows_what_others_save(study, ledger, open_page):
    run = ledger.summaries()[-1]
    app = tick(open_page("history.py"), 0)
    ledger.annotate(note(run, note="theirs"))
    app.run()
    assert app.text_area(key=f"hi-note-{run.id}").value == "theirs"


# ---------------------------------------------------------------- studies
@pytest.fixture
def studies_view(open_page):
    def run():
        app = open_page("history.py")
        return app.segmented_control(key="pick-hi-view").set_value("studies").run()

    return run


def test_studies_are_listed_with_what_won(study, second, studies_view):
    table = studies_view().dataframe[0].value
    assert list(table["Study"]) == ["Churn", "Flight delay"]
    assert list(table["Result"]) == [["Baseline"], ["Meets the promise"]]
    assert table["Best so far"].iloc[1] == "Fewer trees (keep fraction 0.3)"
    assert list(table["Runs"]) == [2, 4]


def test_several_studies_are_archived_and_restored_with_their_runs(study, second, ledger, studies_view):
    app = tick(studies_view(), 0, 1)
    app.button(key="hi-studies-archive").click().run()
    assert ledger.studies() == []
    assert not app.dataframe
    app.segmented_control(key="pick-hi-view").set_value("runs").run()
    assert names(app) == []
    app.segmented_control(key="pick-hi-shelf").set_value("archived").run()
    assert len(names(app)) == 6
    tick(app, 0)
    assert app.button(key="hi-restore").disabled  # it comes back with its study
    app.segmented_control(key="pick-hi-view").set_value("studies").run()
    tick(app, 0, 1)
    app.button(key="hi-studies-restore").click().run()
    assert len(ledger.studies()) == 2


def test_a_study_is_renamed_and_a_second_one_is_told(study, second, ledger, studies_view):
    app = tick(studies_view(), 1)
    app.text_input(key=f"hi-name-{study.id}").input("Delays")
    ledger.rename_study(study.id, "Late flights", study.name)
    app.button(key=f"hi-rename-{study.id}").click().run()
    assert "Late flights" in app.error[0].value
    assert app.text_input(key=f"hi-name-{study.id}").value == "Delays"
    app.button(key=f"hi-rename-{study.id}").click().run()
    assert ledger.study(study.id).name == "Delays"
    with pytest.raises(Conflict):
        ledger.rename_study(study.id, "x", study.name)


def test_the_note_of_a_study_keeps_the_time_of_its_request(study, ledger, studies_view):
    ledger.set_request_ms(study.id, 25.0, "Ravi")
    app = tick(studies_view(), 0)
    app.text_area(key=f"hi-note-{study.id}").input("for the review")
    app.button(key=f"hi-save-{study.id}").click().run()
    found = ledger.study_annotation(study.id)
    assert (found.note, found.request_ms) == ("for the review", 25.0)
    assert isinstance(found, StudyAnnotation)
