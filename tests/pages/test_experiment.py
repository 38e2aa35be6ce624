"""The Experiment page: batch curve, operators, threads, resources, every call, agreement, rows that differ."""

import csv
import io

import pytest
from page_history import HOSTILE, add_certificate, add_run, make_study, raw_samples
from pages_text import texts

from engine.measurement.sweep import sweeps
from engine.records import (
    ClassFigure,
    Comparison,
    Conformance,
    Disagreement,
    Interval,
    Measurement,
    Recipe,
    Step,
    Workload,
)
from engine.reports import export_table
from engine.reports.certificate import to_markdown
from engine.reports.disagreements import COLUMNS, disagreement_rows
from pages._ui.experiment.agreement import calibration_sentence
from pages._ui.experiment.batch_curve import reading
from pages._ui.experiment.times import timing_row
from pages._ui.experiment.worst_rows import by_slice, table
from pages._ui.flags import merged

FEWER = Recipe(steps=(Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.3}),))


@pytest.fixture
def swept(ledger, home):
    """A variant timed at four batch sizes and two numbers of threads, and the file of its raw calls."""
    study = make_study(ledger, name="Flight delay")
    add_run(ledger, study, Recipe(), speedup=None)
    samples = raw_samples(home, Workload(), n_pairs=3)
    return add_run(
        ledger, study, FEWER, speedup=3.4, drop=0.004, batches=(1, 4, 16, 64), threads=(1, 2), samples=samples
    )


@pytest.fixture
def opened(open_page):
    """opened(id, "ex-batch", …) -> the page with these parts opened."""

    def run(experiment_id, *keys):
        app = open_page("experiment.py", id=experiment_id)
        for key in keys:
            app.session_state[key] = True
        app.run()
        assert not app.exception, app.exception
        return app

    return run


def table_with(app, column):
    return next(found.value for found in app.table if column in found.value.columns)


def test_the_batch_curve_is_read_aloud_and_tabled(swept, opened):
    app = opened(swept)
    said = texts(app)
    assert "A call takes 588\u202fµs + 118\u202fµs per item" in said  # 2 ms + 0.4 ms · n, 3.4 times faster
    assert "Items per second still rise at 64 per call" in said
    assert not [one for one in app.table if "On the line" in one.value.columns]  # not before somebody opens it
    app = opened(swept, "ex-batch")
    assert list(table_with(app, "On the line")["Items per call"]) == ["1", "4", "16", "64"]


def test_a_p95_budget_names_the_largest_batch_that_keeps_it(swept, opened):
    app = opened(swept, "ex-batch")
    app.number_input(key="ex-batch-budget").set_value(3.0).run()  # (2 + 0.4 n) / 3.4 ms: 2.47 at 16, 8.1 at 64
    assert "The largest batch within 3.00\u202fms is **16**." in texts(app)
    app.number_input(key="ex-batch-budget").set_value(0.1).run()
    assert "No batch that was timed keeps p95 within 100\u202fµs." in texts(app)


def test_cannot_tell_says_how_many_pairs_would_decide(swept, ledger):
    run = ledger.experiment(swept)
    unsure = run.comparisons[0].model_copy(update={"verdict": "cannot tell", "pairs_needed": 24})
    row = timing_row(run.model_copy(update={"comparisons": (unsure,)}), run.measurements[0])
    assert row["Verdict"].endswith("about\u00a024\u00a0pairs would decide]")


def test_where_no_line_fits_the_table_stands_for_it():
    def at(size, ms):
        interval = Interval(value=ms)
        return Measurement.model_construct(
            workload=Workload(batch_size=size), p50_ms=interval, p95_ms=None, items_per_s=1.0, items_per_s_interval=None
        )

    (sweep,) = sweeps([at(1, 1.0), at(2, 9.0), at(4, 9.5), at(8, 60.0)])
    assert reading(sweep)[0].startswith("**No straight line fits**")


def test_operators_stand_before_beside_after_and_their_names_are_text(swept, opened):
    assert "**The trees take 100%" in texts(opened(swept)).replace("\\", "")
    app = opened(swept, "ex-operators-box")
    found = table_with(app, "Operator")
    assert list(found["Share, original"]) == ["–", "90.0%", "10.0%"]
    assert list(found["Share, this run"]) == ["100.0%", "–", "–"]
    assert HOSTILE[:30] not in texts(app)


def test_more_threads_that_bring_nothing_are_grey_and_say_so(swept, open_page):
    found = table_with(open_page("experiment.py", id=swept), "Gain")
    assert list(found["Threads"]) == ["1", "2"]
    assert found["Gain"].iloc[1] == "1.00×  \n:gray[within\u00a0noise]"


def test_resources_show_what_travels(swept, open_page):
    found = table_with(open_page("experiment.py", id=swept), "This run")
    rows = dict(zip(found[""], found["This run"], strict=True))
    assert rows["Compressed"] == "900\u202fkB"
    assert rows["Cores used"] == "0.97"


def test_flags_are_said_once_with_their_range(swept, ledger, open_page):
    (line,) = merged(ledger.experiment(swept).measurements)
    assert line == "preempted in about 1.0 to 64.0% of calls: p95 is the scheduler's"
    said = texts(open_page("experiment.py", id=swept))
    assert said.count("reempted in about") == 1


def test_flags_of_some_workloads_name_them(ledger, swept):
    run = ledger.experiment(swept)
    quiet = [one.model_copy(update={"flags": ()}) for one in run.measurements[2:]]
    (line,) = merged([*run.measurements[:2], *quiet])
    assert line.startswith("batch 1 and 4 on 1 thread: preempted in about 1.0 to 4.0%")


def test_every_call_is_read_from_the_file_only_when_asked_for(swept, opened):
    assert not [one for one in opened(swept).table if "Slowest" in one.value.columns]
    app = opened(swept, "ex-calls")
    found = table_with(app, "Slowest").set_index("")
    assert list(found["Calls"]) == ["150", "150"]
    assert found.loc["Original", "Fastest"] == "2.00\u202fms"
    assert found.loc["This run", "Fastest"] == "1.00\u202fms"
    assert found.loc["This run", "p95"].startswith("1.0")
    assert found.loc["This run", "p99"] == "–  \n:gray[too few calls]"
    assert "3 pairs, from 2.00× to 2.02×" in texts(app)


def test_raw_calls_that_are_elsewhere_are_said(study, ledger, opened):
    assert "not on this machine" in texts(opened(ledger.experiments(study_id=study.id)[1].id, "ex-calls"))


def test_agreement_and_calibration_are_shown_and_noise_is_grey(swept, open_page):
    app = open_page("experiment.py", id=swept)
    said = texts(app)
    assert "Right before, wrong now" in said
    assert ":red[0.60%]" in said
    assert ":gray[The calibration error does not change beyond the noise (−0.10 to +0.50 points).]" in said


def test_a_change_of_calibration_beyond_the_noise_is_named(swept, ledger):
    calibration = ledger.experiment(swept).quality.calibration
    worse = calibration.model_copy(update={"change": Interval(value=0.01, low=0.004, high=0.02)})
    assert calibration_sentence(worse) == "The calibration error rises by 1.00 points (+0.40 to +2.00)."


def test_rows_whose_files_are_gone_are_refused_in_a_sentence(swept, opened):
    assert "bring the model again" in opened(swept, "ex-worst").error[0].value
    assert "bring the model again" in opened(swept, "ex-reliability").error[0].value


def test_where_the_rows_that_differ_lie_is_counted_slice_by_slice(swept, ledger):
    def row(kind, origin):
        return Disagreement(row=1, kind=kind, baseline="0", candidate="1", difference=0.1, slices={"origin": origin})

    slices = ledger.experiment(swept).quality.slices
    found = [row("bad flip", "JFK"), row("good flip", "JFK"), row("bad flip", HOSTILE), row("bad flip", "gone")]
    first, second = by_slice(found, slices)
    assert first["Harm"] == "1 (3.2%)"  # of 31
    assert HOSTILE[:30] not in first["Slice"]
    assert (second["Rows"], second["Differ"], second["Harm"]) == ("2,500", "2 (0.1%)", "1 (0.0%)")


def test_rows_that_differ_are_text_on_the_screen_and_in_a_spreadsheet():
    row = Disagreement(
        row=7, kind="bad flip", label=HOSTILE, baseline=HOSTILE, candidate="=cmd()", baseline_score=0.9,
        candidate_score=0.6, difference=0.3, kl_nats=0.1, slices={"=origin": "=HYPERLINK(1)"},
    )  # fmt: skip
    cells = table([row]).iloc[0]
    assert cells["What happened"] == ":red[Right before, wrong now]"
    assert HOSTILE[:30] not in cells.to_string()
    (line,) = csv.DictReader(io.StringIO(export_table.to_csv(disagreement_rows([row]), COLUMNS).decode()))
    assert line["candidate"] == "'=cmd()"
    assert all(not cell.startswith("=") for cell in [*line, *line.values()])


@pytest.mark.parametrize("place", ["badge", "markdown", "caption"])
def test_nothing_says_none_beside_the_badge(swept, open_page, place):
    app = open_page("experiment.py", id=swept)
    assert all(element.value not in ("None", "`None`") for element in getattr(app, place, ()))


def test_a_page_leads_to_its_sections(swept, open_page):
    app = open_page("experiment.py", id=swept)
    (line,) = [one.value for one in app.markdown if "On this page" in one.value]
    titles = [one.value for one in app.subheader]
    for title in ("What was done", "Time", "Batch size", "Where the time goes", "Resources", "Quality"):
        assert f"[{title}](#{title.lower().replace(' ', '-')})" in line
        assert title in titles


def test_the_figures_stand_beside_the_originals(swept, open_page):
    app = open_page("experiment.py", id=swept)
    tiles = {one.label: (one.value, one.delta) for one in app.metric}
    assert tiles["p50 latency"] == ("706\u202fµs", "was 2.40\u202fms")
    assert tiles["Size"] == ("1.40\u202fMB", "was 4.20\u202fMB")
    assert tiles["ROC AUC"] == ("90.94%", "was 91.34%")
    assert all("measuring#" in one.help for one in app.metric)


def test_a_failed_run_says_what_likely_why_and_what_next(study, ledger, opened):
    failed = add_run(
        ledger, study, FEWER, speedup=1, status="failed", message="needs calibration rows; this study has none",
        log_lines=("building", "DoesNotFit: needs calibration rows; this study has none"),
    )  # fmt: skip
    app = opened(failed)
    said = app.error[0].value
    assert "Needs calibration rows" in said
    assert "**Likely cause:** a step cannot handle this model" in said
    assert "**Next:** leave that step out" in said
    assert "DoesNotFit" in app.code[0].value  # the log stands below, open
    assert app.button(key=f"ex-retry-{failed}")
    assert "Use as a start" in [one.label for one in app.get("page_link")]


def test_every_parameter_is_shown_and_the_line_that_asks_again(swept, opened):
    app = opened(swept, "ex-recipe")
    parameters = table_with(app, "What it does").set_index("Parameter")
    assert parameters.loc["Keep fraction", "Value"] == "**0\\.3**"
    assert "--step pruning.fewer_trees:keep_fraction=0.3" in app.code[0].value
    assert "--batch 1,4,16,64 --threads 1,2" in app.code[0].value


def test_classes_and_other_quantities_are_there_when_opened(study, ledger, opened):
    first = ledger.experiments(study_id=study.id)[1]
    classes = (ClassFigure(name=HOSTILE, n_rows=31, recall=(0.9, 0.8), precision=(None, None), f1=(0.7, 0.7)),)
    slow = Comparison(
        workload=Workload(), quantile=0.99, clock="cpu", ratio=0.5, low=0.45, high=0.55, verdict="faster", n_pairs=10
    )
    run = add_run(
        ledger, study, FEWER, speedup=3.4, comparisons=(*first.comparisons, slow),
        quality=first.quality.model_copy(update={"classes": classes}),
    )  # fmt: skip
    app = opened(run, "ex-classes", "ex-quantiles")
    assert table_with(app, "Recall")["Recall"].iloc[0] == "90.0% → 80.0%"
    assert table_with(app, "Of the calls")["Of the calls"].iloc[0] == "p99 of processor time"
    assert HOSTILE[:30] not in texts(app)


def test_the_note_is_written_where_the_run_is_looked_at(swept, ledger, open_page):
    app = open_page("experiment.py", id=swept)
    app.text_area(key=f"ex-note-{swept}").input("ship it").run()
    app.button(key=f"ex-save-{swept}").click().run()
    assert not app.exception
    assert ledger.annotation(swept).note == "ship it"
    labels = [one.label for one in app.expander]
    assert any(label.startswith("Note and tags") and "ship it" in label for label in labels)


def test_the_whole_request_is_said_where_somebody_gave_its_time(swept, ledger, open_page):
    study = ledger.experiment(swept).spec.study_id
    assert "Within the request" not in texts(open_page("experiment.py", id=swept))
    ledger.set_request_ms(study, 24.0, "Asha")
    said = texts(open_page("experiment.py", id=swept))
    assert "Within the request: 1.08× for the whole request" in said  # 2.4 ms of 24 ms, 3.4 times faster


def test_trees_show_what_they_answer_at_their_edges(ledger, opened, open_page):
    study = make_study(ledger, name="Flight delay")
    add_run(ledger, study, Recipe(), speedup=None)
    asked = (
        Conformance(what="quantisation.tree_bins", exact=True, n_rows=6512, n_made=6012, n_differ=0, largest=0.0),
        Conformance(
            what="gone", exact=False, n_rows=6512, n_differ=12, largest=0.31, column=HOSTILE,
            kind="float32 value beside a threshold",
        ),
    )  # fmt: skip
    run = add_run(ledger, study, FEWER, speedup=3.4, drop=0.004, conformance=asked)
    app = opened(run)
    rows = table_with(app, "Promises")
    assert list(rows["Rows"]) == ["6,512 rows (6,012 of them made)", "6,512 rows"]
    assert "None" in rows["Differ"][0]
    assert list(rows["Differ"])[1:] == ["**12**"]
    assert list(rows["By at most"]) == ["0", "0.31"]
    assert HOSTILE[:20] not in texts(app)
    compare = open_page("compare.py", study=study.id)
    assert "differ, by up to" not in texts(compare)
    compare.session_state["cm-card"] = run
    assert "12 of 6,512 rows differ, by up to 0.31" in texts(compare.run()).replace("\\", "")
    made = add_certificate(ledger, study, run).model_copy(update={"conformance": asked})
    assert "12 of 6,512 rows differ, by up to 0.31" in to_markdown(made).decode()
