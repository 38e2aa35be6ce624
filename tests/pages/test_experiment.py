"""The Experiment page: batch curve, operators, threads, resources, every call, agreement, rows that differ."""

import csv
import io

import numpy as np
import pytest
from page_history import HOSTILE, add_run, make_study, raw_samples
from pages_text import texts

from engine.measurement.sweep import sweeps
from engine.records import Disagreement, Interval, Measurement, Recipe, Step, Workload
from engine.reports import export_table
from engine.reports.disagreements import COLUMNS, disagreement_rows
from pages._ui.agreement import calibration_sentence
from pages._ui.batch_curve import reading
from pages._ui.call_times import N_POINTS, spread_chart
from pages._ui.details import timing_row
from pages._ui.flags import merged
from pages._ui.worst_rows import table

FEWER = Recipe(steps=(Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.3}),))


@pytest.fixture
def swept(ledger, home):
    """A variant timed at four batch sizes and two numbers of threads, and the file of its raw calls."""
    study = make_study(ledger, name="Flight delay")
    add_run(ledger, study, Recipe(), speedup=None)
    samples = raw_samples(home, Workload())
    return add_run(
        ledger, study, FEWER, speedup=3.4, drop=0.004, batches=(1, 4, 16, 64), threads=(1, 2), samples=samples
    )


def table_with(app, column):
    return next(found.value for found in app.table if column in found.value.columns)


def test_the_batch_curve_is_read_aloud_and_tabled(swept, open_page):
    app = open_page("experiment.py", id=swept)
    said = texts(app)
    assert "A call takes 588\u202fµs + 118\u202fµs per item" in said  # 2 ms + 0.4 ms · n, 3.4 times faster
    assert "Items per second still rise at 64 per call" in said
    assert list(table_with(app, "On the line")["Items per call"]) == ["1", "4", "16", "64"]


def test_a_p95_budget_names_the_largest_batch_that_keeps_it(swept, open_page):
    app = open_page("experiment.py", id=swept)
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


def test_operators_stand_before_beside_after_and_their_names_are_text(swept, open_page):
    app = open_page("experiment.py", id=swept)
    found = table_with(app, "Operator")
    assert list(found["Share, original"]) == ["–", "90.0%", "10.0%"]
    assert list(found["Share, this run"]) == ["100.0%", "–", "–"]
    assert HOSTILE[:30] not in texts(app)


def test_more_threads_that_bring_nothing_are_grey_and_say_so(swept, open_page):
    found = table_with(open_page("experiment.py", id=swept), "Gain")
    assert list(found["Threads"]) == ["1", "2"]
    assert found["Gain"].iloc[1] == "1.00×  \n:gray[within noise]"


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


def test_every_call_is_read_from_the_file_only_when_asked_for(swept, open_page):
    app = open_page("experiment.py", id=swept)
    assert not [box for box in app.selectbox if box.key == "ex-calls-workload"]
    app.session_state["ex-calls"] = True
    app.run()
    assert not app.exception
    assert "Original: 50 calls, half within 2.00\u202fms" in texts(app)
    assert "This run: 50 calls, half within 1.00\u202fms" in texts(app)


def test_raw_calls_that_are_elsewhere_are_said(study, ledger, open_page):
    app = open_page("experiment.py", id=ledger.experiments(study_id=study.id)[1].id)
    app.session_state["ex-calls"] = True
    app.run()
    assert "not on this machine" in texts(app)


def test_the_spread_keeps_few_points_and_all_the_shares():
    times = np.sort(np.random.default_rng(0).gamma(2, 1, 200_000))
    (trace,) = spread_chart({"variant": times}).data
    assert len(trace.x) == N_POINTS
    assert trace.x[0] == times[0]
    assert trace.x[-1] == times[-1]
    assert np.isclose(np.interp(50, trace.y, trace.x), np.median(times), rtol=0.01)


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


def test_rows_whose_files_are_gone_are_refused_in_a_sentence(swept, open_page):
    app = open_page("experiment.py", id=swept)
    app.session_state["ex-worst"] = True
    app.run()
    assert not app.exception
    assert "bring the model again" in app.error[0].value


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
