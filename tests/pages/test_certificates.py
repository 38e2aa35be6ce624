"""Certify: what may be pressed and what is said, and the page of a certificate."""

import numpy as np
import pandas as pd
import pytest
from page_history import HOSTILE, add_certificate, add_run, make_study
from pages_text import texts
from streamlit.testing.v1 import AppTest

from engine.data.stored import INPUTS_FILE, LABELS_FILE, ROWS_FILE
from engine.measurement.estimate import estimate_s
from engine.quality.capability import coverage
from engine.records import Recipe, Step, Workload
from engine.reports import numbers
from pages._ui.certificate.certifying import why_not
from pages._ui.new_study.enough_rows import overall
from pages._ui.study import rows_enough
from pages._ui.study.rows_enough import set_aside
from pages._ui.words import with_times_sign


def runs_of(ledger, study):
    return ledger.experiments(study_id=study.id)


def test_certify_says_what_it_reads_and_uses_before_anything_happens(study, ledger, open_page):
    app = open_page("compare.py", study=study.id)
    assert app.button(key="cm-certify").help == "3 of 3 certificates left on these rows."
    app.button(key="cm-certify").click().run()
    said = texts(app)
    assert "10,000 certification rows" in said
    assert "This uses one, whatever the verdict, and cannot be undone" in said
    assert ledger.certificates(study.id) == []


def _press_certify(experiment_id):
    from pages._ui import loaders
    from pages._ui.certificate.certifying import issue_and_show

    issue_and_show(loaders.experiment(experiment_id, loaders.version()))


def test_a_refusal_is_a_sentence_and_uses_no_certificate(study, ledger):
    fewer, *others = runs_of(ledger, study)[1:]
    more = add_run(ledger, study, Recipe(steps=(Step(lever="x"),)), speedup=1.5)
    for run in (*(one.id for one in others), more):
        add_certificate(ledger, study, run)
    app = AppTest.from_function(_press_certify, args=(fewer.id,), default_timeout=30).run()
    assert not app.exception
    assert "Nothing was certified and no certificate was used" in app.error[0].value
    assert "New rows needed" in app.error[0].value
    assert ledger.certificate_of(fewer.id) is None


def test_after_the_last_certificate_the_button_says_why(study, ledger, open_page):
    band = study.promise.band.model_copy(update={"n_certificates": 1})
    limited = study.model_copy(update={"promise": study.promise.model_copy(update={"band": band})})
    kept = add_certificate(ledger, study, runs_of(ledger, study)[3].id)
    info = ledger.eval_set(study.eval_set_id)
    reason = why_not(limited, runs_of(ledger, study)[1], [kept], info)
    assert reason.startswith("All 1 certificates that this promise allows on these rows are used.")
    assert why_not(study, runs_of(ledger, study)[1], [kept], info) is None
    nothing_left = info.model_copy(update={"splits": {"selection": 10}})
    assert "No rows were set aside" in why_not(study, runs_of(ledger, study)[1], [], nothing_left)


def test_the_original_and_failed_runs_cannot_be_certified(study, ledger, open_page):
    failed = add_run(ledger, study, Recipe(steps=(Step(lever="x"),)), speedup=1, status="failed")
    for run in (runs_of(ledger, study)[0].id, failed):
        assert not [one for one in open_page("experiment.py", id=run).button if one.key == "ex-certify"]


@pytest.mark.parametrize("verdict", ["pass", "not certified", "fail"])
def test_a_certificate_stands_wherever_its_variant_does(study, ledger, open_page, verdict):
    fewer = runs_of(ledger, study)[1]
    made = add_certificate(ledger, study, fewer.id, verdict)
    word = {"pass": "Certified", "not certified": "Not certified", "fail": "Fail"}[verdict]
    compare = open_page("compare.py", study=study.id)
    assert not [one for one in compare.button if one.key == "cm-certify"]
    assert word in compare.table[0].value["Result"].iloc[1]
    assert "not certified**" not in texts(compare)
    said = texts(open_page("study.py", study=study.id))
    assert "**2 of 3** left" in said
    assert word in said
    assert word in texts(open_page("overview.py"))
    page = open_page("certificate.py", id=made.id)
    assert "Certificate **1 of 3** of this promise" in texts(page)
    assert word in texts(page)


def test_a_refused_variant_makes_room_for_the_next_one(study, ledger, open_page):
    onnx = Recipe(steps=(Step(lever="export.lightgbm_to_onnx"),))
    add_certificate(ledger, study, runs_of(ledger, study)[1].id, "fail")
    slower = add_run(ledger, study, onnx, speedup=3.2, drop=0.001)
    app = open_page("compare.py", study=study.id)
    assert "LightGBM to ONNX is 3.20× faster" in texts(app)
    assert app.button(key="cm-certify")
    assert ledger.experiment(slower).status == "succeeded"


def test_the_certificate_page_names_what_it_rests_on_and_escapes_names(ledger, open_page):
    study = make_study(ledger, name=HOSTILE)
    add_run(ledger, study, Recipe(), speedup=None)
    run = add_run(ledger, study, Recipe(steps=(Step(lever="pruning.fewer_trees"),)), speedup=3.4, drop=0.004)
    made = add_certificate(ledger, study, run)
    app = open_page("certificate.py", id=made.id)
    said = texts(app)
    assert HOSTILE[:30] not in said
    assert f"`{made.promise_sha256[:16]}…`" in said
    assert "`1111111111111111…`" in said
    assert "too few rows\\: 31 of 135 needed" in said
    assert "Pass" in said
    order = [heading.value for heading in app.subheader]
    assert order.index("What was found") < order.index("Not covered") < order.index("The promise")


@pytest.mark.parametrize("ref", ["", "nothing", "../x", "a' or 1=1"])
def test_a_wrong_certificate_in_the_address_is_said(study, open_page, ref):
    assert "certificate" in open_page("certificate.py", id=ref).error[0].value


def test_what_the_rows_can_certify_is_said_at_the_doubt_of_one_certificate(study, ledger):
    info = ledger.eval_set(study.eval_set_id)
    band = study.promise.band
    enough = "10,000 rows are set aside for certification; nothing reads them before you certify."
    assert set_aside(band, info) == enough
    few = info.model_copy(update={"splits": {"certification": 300}})
    said = set_aside(band, few).replace("\u202f", " ")
    assert "Too few for a band of 1.00 points: 408 are the least" in said  # ln(0.05 / 3) / ln(0.99)
    none = info.model_copy(update={"splits": {}})
    assert set_aside(band, none) == "No rows are set aside for certification."
    assert "only identical answers" in set_aside(band.model_copy(update={"max_drop": 0.0}), info)


def store_rows(home, study, n):
    """Every fifth row is late; the first 90 of the certification rows come from JFK."""
    for split in ("train", "calibration", "selection", "certification"):
        folder = home / "evalsets" / study.eval_set_id / split
        folder.mkdir(parents=True)
        (folder / INPUTS_FILE).write_text("[]")
        many = n if split == "certification" else 10
        np.save(folder / LABELS_FILE, (np.arange(many) % 5 == 0).astype(int))
        origin = np.where(np.arange(many) < 90, "JFK", "LAX")
        pd.DataFrame({"row": np.arange(many), "slice:origin": origin}).to_parquet(folder / ROWS_FILE)


def test_the_study_says_part_by_part_what_new_study_said(home, study, open_page):
    store_rows(home, study, 1000)
    app = open_page("study.py", study=study.id)
    assert "smallest band" not in texts(app)  # counted when somebody asks
    app.session_state["st-certifiable"] = True
    said = texts(app.run())
    assert not app.exception
    found, band = rows_enough.counted(study.eval_set_id, study.signature.model_dump_json()), study.promise.band
    assert found.whole.n_rarer == 200
    lines = overall(coverage(found, band)[0], band, found, rows_enough.USUAL)
    assert len(lines) == 3
    assert all(line in said for line in lines)
    assert "1 of 2 have rows enough" in said


def test_data_that_is_gone_is_said(study, open_page):
    app = open_page("study.py", study=study.id)
    app.session_state["st-certifiable"] = True
    app.run()
    assert "evaluation set" in app.error[0].value


def test_the_time_it_takes_is_said_before_the_start(study, ledger, open_page):
    app = open_page("study.py", study=study.id)
    app.button(key="st-add-pruning-fewer_trees").click().run()
    measured = runs_of(ledger, study)[0].measurements
    seconds = estimate_s("standard", [Workload()], measured)
    assert f"Timing takes about {numbers.duration(seconds)}" in texts(app)


def test_powers_of_two_are_ticked_at_once_and_timed_sizes_are_marked(study, ledger, open_page):
    app = open_page("study.py", study=study.id)
    app.button(key="st-add-pruning-fewer_trees").click().run()
    pills = next(one for one in app.button_group if one.key.startswith("pick-st-batches"))
    assert not [option for option in pills.options if "check" in option]
    next(one for one in app.number_input if one.key.endswith("keep_fraction")).set_value(0.3).run()
    pills = next(one for one in app.button_group if one.key.startswith("pick-st-batches"))
    assert [option for option in pills.options if "check" in option] == ["1 :material/check:"]
    app.button(key="st-batches-sweep").click().run()
    app.button(key="st-go").click().run()
    assert not app.error, app.error[0].value
    sizes = [one.batch_size for one in runs_of(ledger, study)[-1].spec.workloads]
    assert sorted(sizes) == [1, 2, 4, 8, 16, 32, 64, 128]


def test_reasons_have_a_real_times_sign_on_pages(study, open_page):
    assert with_times_sign("2.97x of the 3x goal in p99, 2x4 matrix") == "2.97× of the 3× goal in p99, 2x4 matrix"
    results = list(open_page("compare.py", study=study.id).table[0].value["Result"])
    assert any("3× goal" in text.replace("\\", "") for text in results)
    assert not any("3x" in text for text in results)
