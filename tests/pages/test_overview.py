"""Overview: what won, cards with search and pages, first steps that tick themselves."""

import pytest
from page_history import add_certificate, add_run, make_study
from pages_text import texts

from engine.records import Annotation, Choice, ExperimentSpec, Recipe, Step
from pages._ui import loaders
from pages._ui.overview.tour import exporting
from pages._ui.text import plain

FEWER = Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.3})


def cards(app):
    """Names of the studies whose cards are drawn."""
    found = [link.proto.query_string for link in app.get("page_link") if link.proto.label == "Open"]
    return [query.removeprefix("study=") for query in found]


def figures(app, number=0):
    """What a card says in figures."""
    return [text.value for text in app.markdown if ":gray[Median call]" in text.value][number]


def test_a_card_says_what_won_and_by_how_much(study, open_page):
    app = open_page()
    said = texts(app)
    assert "1 of 1 study has a variant that keeps the promise" in said
    assert "4 runs" in said
    assert "Fewer trees" in said
    rows = figures(app)
    assert "2.40\u202fms → **706\u202fµs**" in rows
    assert "**3.4×** :gray[3.30 to 3.51]" in rows
    assert "−0.40\u202fpoints" in rows
    assert "→" in rows.split("points")[1]  # the cost


def test_the_certified_one_comes_before_a_faster_one(study, ledger, open_page):
    faster = add_run(ledger, study, Recipe(steps=(FEWER, FEWER)), speedup=6.0, drop=0.002)
    assert "6.0×" in figures(open_page())
    certified = ledger.summaries()[1].id
    add_certificate(ledger, study, certified)
    app = open_page()
    assert "3.4×" in figures(app)
    assert "1 is certified" in texts(app)
    assert faster != certified


def test_one_that_a_certificate_refused_does_not_stand_for_the_study(study, ledger, open_page):
    add_certificate(ledger, study, ledger.summaries()[1].id, verdict="fail")
    other = add_run(ledger, study, Recipe(steps=(FEWER, FEWER)), speedup=3.2, drop=0.002)
    assert "3.2×" in figures(open_page())
    assert other


def test_without_one_that_keeps_the_promise_the_fastest_within_the_band_stands(ledger, open_page):
    made = make_study(ledger, name="Churn")
    add_run(ledger, made, Recipe(), speedup=None)
    add_run(ledger, made, Recipe(steps=(FEWER,)), speedup=2.0, drop=0.001)
    add_run(ledger, made, Recipe(steps=(FEWER, FEWER)), speedup=8.0, drop=0.03)
    app = open_page()
    assert "2.0×" in figures(app)
    assert plain("2.0× of the 3× goal") in texts(app)
    assert "0 of 1 study has" in texts(app)


@pytest.mark.parametrize(
    ("status", "said"),
    [(None, "The baseline is being measured"), ("failed", "out of disk"), ("succeeded", "Nothing tried")],
)
def test_before_anything_won_the_card_says_what_is_there(ledger, open_page, status, said):
    made = make_study(ledger, name="Churn")
    if status is None:
        spec = ExperimentSpec(study_id=made.id, runtime=Choice(name="lightgbm_native"), workloads=(made.workload,))
        ledger.add_experiment(spec, "Asha")
    else:
        add_run(ledger, made, Recipe(), speedup=None, status=status, message="out of disk")
    assert said in texts(open_page())


def test_no_whole_record_is_read(study, ledger, open_page, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a whole record was read")

    monkeypatch.setattr("storage.runs.record", refuse)
    monkeypatch.setattr("storage.experiments.record", refuse)
    monkeypatch.setattr("storage.summary.record", refuse)
    assert "Fewer trees" in texts(open_page())
    assert len(open_page("history.py").dataframe[0].value) == 4


# ---------------------------------------------------------------- many studies
@pytest.fixture
def many(ledger):
    return [make_study(ledger, name=f"Study {number}", study_id=f"study{number:04d}") for number in range(21)]


def test_many_studies_come_in_pages_and_are_searched(many, ledger, open_page):
    add_run(ledger, many[3], Recipe(), speedup=None)
    app = open_page()
    assert len(cards(app)) == 9
    assert cards(app)[0] == many[3].id  # the one that was worked on last
    app.pagination(key="ov-page").set_value(3).run()
    assert len(cards(app)) == 3
    app.text_input(key="ov-q").input("study 20").run()
    assert cards(app) == [many[20].id]
    app.text_input(key="ov-q").input("zebra").run()
    assert "No studies match" in texts(app)
    app.button(key="ov-clear").click().run()
    assert len(cards(app)) == 9


def test_archived_studies_are_reached_and_come_back(many, ledger, open_page):
    ledger.archive_studies([many[0].id, many[1].id])
    app = open_page()
    app.toggle(key="ov-archived").set_value(True).run()
    assert sorted(cards(app)) == [many[0].id, many[1].id]
    app.button(key=f"ov-edit-{many[0].id}").click().run()
    assert app.button(key=f"ov-archive-{many[0].id}").label == "Restore"
    ledger.archive_study(many[0].id, archived=False)
    assert cards(app.run()) == [many[1].id]


def test_when_every_study_is_archived_the_page_still_leads_to_them(study, ledger, open_page):
    ledger.archive_study(study.id)
    app = open_page()
    assert not app.get("empty")
    app.toggle(key="ov-archived").set_value(True).run()
    assert cards(app) == [study.id]


def test_a_tag_finds_a_study(many, ledger, open_page):
    from engine.records import StudyAnnotation

    ledger.annotate_study(StudyAnnotation(study_id=many[5].id, tags=("review",), when=many[5].created_at))
    app = open_page()
    app.text_input(key="ov-q").input("review").run()
    assert cards(app) == [many[5].id]


# ---------------------------------------------------------------- first steps
def steps(app):
    return [text.value for text in app.markdown if "radio_button" in text.value or "check_circle:]" in text.value]


def n_ticked(app):
    return sum("check_circle" in text for text in steps(app))


def test_first_steps_tick_themselves(ledger, open_page):
    made = make_study(ledger, name="Churn")
    assert n_ticked(open_page()) == 0
    add_run(ledger, made, Recipe(), speedup=None)
    assert n_ticked(open_page()) == 1
    run = add_run(ledger, made, Recipe(steps=(FEWER,)), speedup=4.0)
    assert n_ticked(open_page()) == 2
    add_certificate(ledger, made, run)
    app = open_page()
    assert n_ticked(app) == 3
    assert "First steps: 3 of 5" in texts(app)


def test_a_download_ticks_the_last_step(study, ledger, open_page, monkeypatch):
    monkeypatch.setattr("pages._ui.overview.tour.current_user", lambda: "Asha")
    assert exporting(lambda: b"x")() == b"x"
    assert loaders.ledger().preference("Asha", "tour.exported") is True
    assert any("Take it with you" in text and "check_circle" in text for text in steps(open_page()))


def test_what_colleagues_did_ticks_nothing(study, open_page, monkeypatch):
    from engine.settings import settings

    monkeypatch.setenv("WHETSTONE_USER", "Newcomer")
    settings.cache_clear()
    assert n_ticked(open_page()) == 0


def test_the_steps_are_put_away_for_good_and_come_back_when_asked_for(study, open_page):
    app = open_page()
    app.button(key="ov-tour-hide").click().run()
    assert steps(app) == []
    again = open_page()
    assert steps(again) == []
    again.button(key="ov-tour-show").click().run()
    assert len(steps(again)) == 5


def test_archived_runs_do_not_stand_for_the_study(study, ledger, open_page):
    ledger.annotate(Annotation(experiment_id=ledger.summaries()[1].id, archived=True, when=study.created_at))
    app = open_page()
    assert "0 of 1 study has" in texts(app)
    assert "3.4×" not in figures(app)


def test_the_sample_of_the_readme_comes_first_and_is_the_one_to_press(ledger, open_page):
    app = open_page()
    offered = [button for button in app.button if button.label == "Run this sample"]
    assert offered[0].key == "ov-sample-flight_delay"
    assert [button.proto.type for button in offered] == ["primary", "secondary", "secondary"]
