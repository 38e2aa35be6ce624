"""What the history promises, on every database it runs on."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from engine.errors import Conflict, InvalidRequest, NotFound, SchemaTooNew
from engine.records import TERMINAL, Annotation, Band, Failure, Promise, StudyAnnotation, summary_of
from storage import schema
from storage.ledger import Ledger
from storage.queue import Queue
from tests import history

SPAWN = multiprocessing.get_context("spawn")
N_WRITTEN = 60  # by each of two writers at once
GONE = Failure(reason="error", message="it did not work")


def claim(ledger, runner="own:1", lease_s=15.0):
    return ledger.queue.claim(runner, lease_s, ledger.workspace)


def end(ledger, status, experiment_id=None):
    """Bring one experiment to a terminal state the way it gets there in life; returns the claim, if there was one."""
    if status == "cancelled":
        ledger.queue.cancel(experiment_id)
        return None
    claimed = claim(ledger)
    if status == "interrupted":
        ledger.queue.interrupt_own("own")
    elif status == "succeeded":
        assert ledger.queue.finish(
            claimed.experiment_id, claimed.attempt, status, experiment_record=history.finished(claimed)
        )
    else:
        assert ledger.queue.finish(claimed.experiment_id, claimed.attempt, status, failure=GONE)
    return claimed


# ---------------------------------------------------------------- models, evaluation sets, studies
def test_models_and_evaluation_sets_come_back_as_they_were(ledger):
    ledger.add_model(history.MANIFEST, "model\x00.txt")
    ledger.add_eval_set(history.EVAL_SET, "données.csv")
    assert ledger.model(history.MODEL_ID) == history.MANIFEST
    assert ledger.model(history.MODEL_ID[:6]) == history.MANIFEST
    assert ledger.model_entry(history.MODEL_ID.upper()[:8]).display_name == "model�.txt"
    assert ledger.eval_set(history.EVAL_SET_ID[:10]) == history.EVAL_SET
    assert [entry.display_name for entry in ledger.eval_sets()] == ["données.csv"]


def test_the_same_model_twice_is_one(ledger):
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda name: ledger.add_model(history.MANIFEST, name), "abcdefgh"))
    assert [entry.manifest for entry in ledger.models()] == [history.MANIFEST]


def test_a_beginning_must_be_long_enough_and_unique(ledger):
    for digit in "12":
        ledger.add_model(history.MANIFEST.model_copy(update={"id": f"abcdef{digit}" + "0" * 57}), "m")
    assert ledger.model("abcdef1").id.startswith("abcdef1")
    with pytest.raises(Conflict, match="several model ids begin with 'abcdef'"):
        ledger.model("abcdef")
    for ref in ("abcde", "abcdef3", "", "%", "abcdef_"):
        with pytest.raises(NotFound, match="there is no model"):
            ledger.model(ref)


def test_a_study_is_found_by_id_beginning_and_name(ledger, study):
    for ref in (study.id, study.id[:6], study.name):
        assert ledger.study(ref) == study
    with pytest.raises(NotFound, match="there is no study 'x'"):
        ledger.study("x")
    namesake = history.add_study(ledger, name=study.name)
    with pytest.raises(Conflict, match=f"2 studies are called '{study.name}'"):
        ledger.study(study.name)
    assert ledger.study(namesake.id) == namesake


def test_an_id_wins_over_a_name_that_looks_like_it(ledger, study):
    history.add_study(ledger, name=study.id)
    assert ledger.study(study.id).name == study.name


def test_a_study_needs_its_model_and_evaluation_set(ledger):
    with pytest.raises(NotFound, match="there is no model"):
        ledger.add_study(history.study())
    ledger.add_model(history.MANIFEST, "m")
    with pytest.raises(NotFound, match="there is no evaluation set"):
        ledger.add_study(history.study())
    assert ledger.studies() == []


def test_a_study_is_stored_once(ledger, study):
    with pytest.raises(Conflict, match="exists already"):
        ledger.add_study(study)


def test_archived_studies_leave_the_list_and_come_back(ledger, study):
    second = history.add_study(ledger, name="second")
    ledger.archive_study(study.name)
    assert ledger.studies() == [second]
    assert ledger.studies(include_archived=True) == [second, study]
    assert ledger.study_archived(study.id)
    ledger.archive_study(study.id, archived=False)
    assert ledger.studies() == [second, study]


def test_several_studies_are_archived_at_once_or_none(ledger, study):
    second, third = (history.add_study(ledger, name=name) for name in ("second", "third"))
    ledger.archive_studies([study.id, third.id])
    assert ledger.studies() == [second]
    assert ledger.archived_studies() == {study.id, third.id}
    with pytest.raises(NotFound):
        ledger.archive_studies([study.id, "nowhere"], archived=False)
    assert ledger.archived_studies() == {study.id, third.id}
    ledger.archive_studies([study.id, third.id], archived=False)
    assert ledger.archived_studies() == frozenset()


def test_a_study_is_renamed_and_its_frozen_promise_stays(ledger, study):
    ledger.add_experiment(history.spec(study.id), "ada")
    claim(ledger)
    before = ledger.promise_hash(study.id), ledger.promise_frozen_at(study.id)
    version = ledger.version()
    renamed = ledger.rename_study(study.id, "  Verspätungen ☕ ", study.name)
    assert renamed == study.model_copy(update={"name": "Verspätungen ☕"})
    assert ledger.study("Verspätungen ☕") == renamed
    assert (ledger.promise_hash(study.id), ledger.promise_frozen_at(study.id)) == before
    assert before[0] == study.promise.fingerprint
    assert ledger.version() > version
    with pytest.raises(NotFound):
        ledger.study(study.name)


def test_of_two_who_rename_a_study_the_second_is_told(ledger, study):
    ledger.rename_study(study.id, "theirs", study.name)
    with pytest.raises(Conflict, match="called this study 'theirs' meanwhile"):
        ledger.rename_study(study.id, "mine", study.name)
    assert ledger.study(study.id).name == "theirs"


@pytest.mark.parametrize("name", ["", "   ", "x" * 201])
def test_a_name_that_is_no_name_is_refused(ledger, study, name):
    with pytest.raises(InvalidRequest, match="1 to 200 characters"):
        ledger.rename_study(study.id, name, study.name)
    assert ledger.study(study.id) == study


# ---------------------------------------------------------------- the promise
def test_the_promise_changes_until_the_first_experiment_starts(ledger, study):
    other = Promise(band=Band(metric="accuracy", max_drop=0.05))
    ledger.add_experiment(history.spec(study.id), "ada")
    assert ledger.update_promise(study.name, other).promise == other
    assert ledger.promise_frozen_at(study.id) is None
    assert ledger.promise_hash(study.id) is None

    before = datetime.now(UTC)
    claimed = claim(ledger)
    assert claimed.study.promise == other
    frozen_at = ledger.promise_frozen_at(study.id)
    assert abs(frozen_at - before) < timedelta(minutes=1)
    assert ledger.promise_hash(study.id) == other.fingerprint

    with pytest.raises(Conflict, match="make a new study"):
        ledger.update_promise(study.id, history.PROMISE)
    assert ledger.study(study.id).promise == other
    ledger.add_experiment(history.spec(study.id, seed=1), "ada")
    claim(ledger)
    assert ledger.promise_frozen_at(study.id) == frozen_at


# ---------------------------------------------------------------- experiments
def test_a_finished_experiment_comes_back_as_it_was(ledger, study):
    experiment_id = ledger.add_experiment(history.spec(study.id, batch_sizes=(1, 32)), "ada ☕")
    queued = ledger.experiment(experiment_id)
    assert (queued.status, queued.attempt, queued.created_by) == ("queued", 0, "ada ☕")
    claimed = claim(ledger)
    assert ledger.experiment(experiment_id).status == "running"
    record = history.finished(claimed)
    assert ledger.queue.finish(experiment_id, claimed.attempt, "succeeded", experiment_record=record)
    assert ledger.experiment(experiment_id) == record
    assert ledger.experiment(experiment_id.lower()[:20]) == record
    assert ledger.experiments() == [record]


def test_a_failed_experiment_says_why(ledger, study):
    ledger.add_experiment(history.spec(study.id), "ada")
    claimed = end(ledger, "failed")
    found = ledger.experiment(claimed.experiment_id)
    assert (found.status, found.error, found.attempt) == ("failed", GONE, 1)
    assert found.duration_s >= 0
    (light,) = ledger.summaries()
    assert (light.status, light.error, light.attempt) == ("failed", GONE, 1)
    assert light.duration_s >= 0


@pytest.mark.parametrize(
    ("table", "read"),
    [
        ("experiment", lambda ledger: ledger.experiments()),
        ("study", lambda ledger: ledger.studies()),
        ("model", lambda ledger: ledger.models()),
    ],
)
def test_a_record_of_other_code_is_refused_in_words(ledger, study, table, read):
    """An app that runs on while a newer release writes beside it."""
    ledger.add_experiment(history.spec(study.id), "ada")
    end(ledger, "succeeded")
    with ledger.engine.begin() as connection:
        newer = sa.text(f"UPDATE {table} SET document = '{{\"new_field\": 1,' || substr(document, 2)")
        connection.execute(newer)
    with pytest.raises(SchemaTooNew, match=r"new_field: .*another release of Whetstone wrote it"):
        read(ledger)


def test_an_experiment_needs_its_study(ledger):
    with pytest.raises(NotFound, match="there is no study"):
        ledger.add_experiment(history.spec("nowhere"), "ada")
    assert ledger.experiments() == []


def test_experiments_are_listed_by_study_status_and_age(ledger, study):
    other = history.add_study(ledger, name="other")
    first, second = (ledger.add_experiment(history.spec(study.id, seed), "ada") for seed in (1, 2))
    third = ledger.add_experiment(history.spec(other.id), "ada")
    end(ledger, "succeeded")

    def ids(**choice):
        return [found.id for found in ledger.experiments(**choice)]

    assert ids() == [first, second, third]
    assert ids(study_id=study.id, newest_first=True) == [second, first]
    assert ids(statuses=["queued"], limit=1) == [second]
    assert ids(statuses=["succeeded", "failed"]) == [first]
    assert [state.experiment_id for state in ledger.queue.states(other.id)] == [third]
    assert [state.experiment_id for state in ledger.queue.states(active_only=True)] == [second, third]
    assert [run.id for run in ledger.summaries()] == [first, second, third]
    assert [run.id for run in ledger.summaries(other.id)] == [third]


def test_a_summary_is_the_light_half_of_the_record_and_reads_no_record(ledger, study):
    ledger.add_experiment(history.spec(study.id, batch_sizes=(1, 32), recipe=history.FEWER_TREES), "ada ☕")
    (asked,) = ledger.summaries()
    assert (asked.status, asked.spec.recipe, asked.measurements) == ("queued", history.FEWER_TREES, ())
    claimed = end(ledger, "succeeded")
    with ledger.engine.begin() as connection:
        connection.execute(sa.text("UPDATE experiment SET document = 'no JSON'"))
    (light,) = ledger.summaries()
    assert light == summary_of(history.finished(claimed))
    assert light.quality.bound == float("inf")


@pytest.mark.parametrize("status", sorted(TERMINAL - {"succeeded"}))
def test_the_summary_of_a_run_without_a_record_says_how_it_ended(ledger, study, status):
    experiment_id = ledger.add_experiment(history.spec(study.id), "ada")
    end(ledger, status, experiment_id)
    (light,) = ledger.summaries()
    assert light == summary_of(ledger.experiment(experiment_id))
    assert light.status == status
    assert light.error.message


def test_what_was_read_before_is_not_read_again(ledger, study):
    first = ledger.add_experiment(history.spec(study.id, 1), "ada")
    end(ledger, "succeeded")
    known = {first: ledger.summaries()[0]}
    second = ledger.add_experiment(history.spec(study.id, 2), "ada")
    with ledger.engine.begin() as connection:
        connection.execute(sa.update(schema.experiment).values(summary=None, document=None))
    found = ledger.summaries(study.id, known)
    assert [run.id for run in found] == [first, second]
    assert found[0] is known[first]


@pytest.mark.parametrize("left", [None, '{"recipe":"original","p50_ms":2.0}', "no JSON"])
def test_a_summary_that_another_release_wrote_is_made_from_the_record(ledger, study, left):
    """A runner of the release before finishes its attempts after the tables were brought to this one."""
    ledger.add_experiment(history.spec(study.id), "ada")
    claimed = end(ledger, "succeeded")
    queued = ledger.add_experiment(history.spec(study.id, 1), "ada")
    with ledger.engine.begin() as connection:
        connection.execute(sa.text("UPDATE experiment SET summary = :left"), {"left": left})
    done, waiting = ledger.summaries()
    assert done == summary_of(history.finished(claimed))
    assert (waiting.id, waiting.status) == (queued, "queued")


def test_thousands_of_experiments_are_listed_without_a_pause(ledger, study):
    n_rows = 5000
    template = ledger.add_experiment(history.spec(study.id), "ada")
    end(ledger, "succeeded")
    copy = """
        INSERT INTO experiment (id, study_id, spec, created_at, created_by, document, summary)
        SELECT :id, study_id, spec, created_at, created_by, document, CAST(:summary AS TEXT)
        FROM experiment WHERE id = :template"""
    job = """
        INSERT INTO job (experiment_id, spec_fingerprint, workspace, status, created_at)
        SELECT :id, spec_fingerprint, workspace, status, created_at FROM job WHERE experiment_id = :template"""
    with ledger.engine.begin() as connection:
        summary = connection.execute(sa.text("SELECT summary FROM experiment")).scalar_one()
        ids = [f"{number:026}" for number in range(n_rows - 1)]
        rows = [{"id": one, "template": template, "summary": summary.replace(template, one)} for one in ids]
        connection.execute(sa.text(copy), rows)
        connection.execute(sa.text(job), rows)
    started = time.perf_counter()
    assert len(ledger.summaries()) == n_rows
    assert time.perf_counter() - started < 5  # measured 0.15 s; reading the records takes ten times that
    assert len({run.id for run in ledger.summaries()}) == n_rows


# ---------------------------------------------------------------- a double click starts one
def test_a_double_click_starts_one(url, home, ledger, study):
    spec = history.spec(study.id)
    second_session = Ledger.open(url, home)
    barrier = threading.Barrier(8)

    def click(number):
        barrier.wait()
        return (ledger, second_session)[number % 2].add_experiment(spec, "ada")

    with ThreadPoolExecutor(8) as threads:
        ids = set(threads.map(click, range(8)))
    second_session.close()
    assert len(ids) == len(ledger.experiments()) == 1
    claim(ledger)
    assert {ledger.add_experiment(spec, "ada")} == ids  # also while it runs
    ledger.queue.interrupt_own("own")
    assert {ledger.add_experiment(spec, "ada")} != ids


def test_another_question_is_another_experiment(ledger, study):
    ids = {ledger.add_experiment(history.spec(study.id, seed), "ada") for seed in range(3)}
    other = history.add_study(ledger, name="other")
    ids |= {ledger.add_experiment(history.spec(other.id), "ada")}
    assert len(ids) == 4


# ---------------------------------------------------------------- the queue
def test_the_most_urgent_then_the_oldest_is_claimed(ledger, study):
    late, soon, now = (
        ledger.add_experiment(history.spec(study.id, seed), "ada", priority=priority)
        for seed, priority in ((1, 0), (2, 0), (3, 5))
    )
    assert [claim(ledger).experiment_id for _ in range(3)] == [now, late, soon]
    assert claim(ledger) is None
    assert not ledger.queue.has_queued()


def test_a_claim_carries_what_the_attempt_needs(ledger, study):
    spec = history.spec(study.id)
    ledger.add_experiment(spec, "ada", timeout_s=60, memory_bytes=1 << 33)
    claimed = claim(ledger)
    assert (claimed.spec, claimed.study, claimed.attempt) == (spec, study, 1)
    assert (claimed.timeout_s, claimed.memory_bytes, claimed.created_by) == (60, 1 << 33, "ada")


def test_a_runner_takes_only_jobs_whose_files_it_has(url, ledger, study, tmp_path):
    elsewhere = Ledger.open(url, tmp_path / "another home")
    elsewhere.add_experiment(history.spec(study.id), "bob")
    assert not ledger.queue.has_queued(ledger.workspace)
    assert claim(ledger) is None
    assert claim(elsewhere).created_by == "bob"
    elsewhere.close()


def _claim_all(url, home, number, results):
    ledger = Ledger.open(url, home)
    taken = []
    while claimed := ledger.queue.claim(f"own:{number}", 60, ledger.workspace):
        taken.append(claimed.experiment_id)
    results.put(taken)
    ledger.close()


def test_many_claimers_take_each_job_once(url, home, ledger, study):
    asked = {ledger.add_experiment(history.spec(study.id, seed), "ada") for seed in range(60)}
    results = SPAWN.Queue()
    claimers = [SPAWN.Process(target=_claim_all, args=(url, home, number, results)) for number in range(3)]
    for claimer in claimers:
        claimer.start()
    taken = [experiment_id for _ in claimers for experiment_id in results.get(timeout=60)]
    for claimer in claimers:
        claimer.join(30)
    assert sorted(taken) == sorted(asked)


def test_progress_and_log_are_seen_and_keep_their_order(ledger, study):
    experiment_id = ledger.add_experiment(history.spec(study.id), "ada")
    claim(ledger)
    queue = ledger.queue
    assert (
        queue.touch(experiment_id, 1, 15, phase="build", progress=0.25, message="s 1", log_lines=["a", "b\x00"])
        is False
    )
    assert queue.touch(experiment_id, 1, 15, log_lines=["c\ud800"]) is False
    state = queue.state(experiment_id)
    assert (state.status, state.phase, state.progress, state.message) == ("running", "build", 0.25, "s 1")
    assert state.started_at >= state.created_at - timedelta(seconds=5)
    lines = queue.log(experiment_id)
    assert [line.line for line in lines] == ["a", "b�", "c�"]
    assert [line.line for line in queue.log(experiment_id, after_id=lines[0].id, limit=1)] == ["b�"]
    assert [line.line for line in queue.log_tail(experiment_id, 2)] == ["b�", "c�"]
    assert queue.log("unknown") == []
    with pytest.raises(NotFound):
        queue.state("unknown")


def test_a_stale_attempt_cannot_write(ledger, study):
    experiment_id = ledger.add_experiment(history.spec(study.id), "ada")
    stale = claim(ledger)
    with ledger.engine.begin() as connection:  # the same row, claimed again by somebody else
        connection.execute(sa.update(schema.job).values(attempt=2))
    before = ledger.version()
    assert ledger.queue.touch(experiment_id, 1, 15, progress=0.9, log_lines=["late"]) is None
    assert not ledger.queue.finish(experiment_id, 1, "succeeded", experiment_record=history.finished(stale))
    state = ledger.queue.state(experiment_id)
    assert (state.status, state.progress, ledger.queue.log(experiment_id)) == ("running", None, [])
    assert ledger.experiment(experiment_id).measurements == ()
    assert ledger.version() == before
    assert ledger.queue.finish(experiment_id, 2, "failed", failure=GONE)


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_what_has_ended_stays_as_it_ended(ledger, study, status):
    experiment_id = ledger.add_experiment(history.spec(study.id), "ada")
    end(ledger, status, experiment_id)
    before, version = ledger.queue.state(experiment_id), ledger.version()
    assert before.status == status
    assert ledger.queue.cancel(experiment_id) == status
    assert ledger.queue.touch(experiment_id, before.attempt, 15, progress=0.1) is None
    assert not ledger.queue.finish(experiment_id, before.attempt, "failed", failure=GONE)
    assert ledger.queue.reap() == ledger.queue.interrupt_own("own") == 0
    assert claim(ledger) is None
    assert ledger.queue.state(experiment_id) == before
    assert ledger.version() == version


def test_cancel_while_queued_is_at_once_and_while_running_a_request(ledger, study):
    first, second = (ledger.add_experiment(history.spec(study.id, seed), "ada") for seed in (1, 2))
    assert ledger.queue.cancel(second) == "cancelled"
    assert ledger.experiment(second).error.reason == "cancelled"
    claim(ledger)
    assert ledger.queue.cancel(first) == "running"
    assert ledger.queue.state(first).cancel_requested
    assert ledger.queue.touch(first, 1, 15) is True
    with pytest.raises(NotFound):
        ledger.queue.cancel("unknown")


def test_an_expired_lease_interrupts_and_a_renewed_one_does_not(ledger, study):
    kept, lost, spared, unwanted = (ledger.add_experiment(history.spec(study.id, seed), "ada") for seed in range(4))
    for _ in range(4):
        claim(ledger, lease_s=0.05)
    ledger.queue.cancel(unwanted)
    time.sleep(0.2)
    assert ledger.queue.touch(kept, 1, 60) is False
    assert ledger.queue.reap(spare={spared}) == 2
    states = {state.experiment_id: state for state in ledger.queue.states()}
    assert states[kept].status == states[spared].status == "running"
    assert states[lost].status == "interrupted"
    assert "Retry" in states[lost].failure.message
    assert states[unwanted].status == "cancelled"


def test_a_restarted_runner_interrupts_its_own_attempts_only(ledger, study):
    mine, theirs = (ledger.add_experiment(history.spec(study.id, seed), "ada") for seed in range(2))
    claim(ledger, runner="machine-a:1")
    claim(ledger, runner="machine-ab:1")
    assert ledger.queue.interrupt_own("machine-a") == 1
    assert ledger.queue.state(mine).status == "interrupted"
    assert ledger.queue.state(theirs).status == "running"


def test_a_retry_is_a_new_row_with_the_same_question_and_limits(ledger, study):
    old = ledger.add_experiment(history.spec(study.id), "ada", timeout_s=9, memory_bytes=10, priority=3)
    with pytest.raises(Conflict, match="is queued"):
        ledger.retry_experiment(old, "bob")
    end(ledger, "interrupted")
    new = ledger.retry_experiment(old, "bob")
    assert new != old
    claimed = claim(ledger)
    assert (claimed.experiment_id, claimed.retry_of, claimed.created_by) == (new, old, "bob")
    assert (claimed.timeout_s, claimed.memory_bytes) == (9, 10)
    assert claimed.spec == ledger.experiment(old).spec
    assert ledger.experiment(old).status == "interrupted"
    assert ledger.experiment(new).retry_of == old


# ---------------------------------------------------------------- the version counter
def test_the_version_moves_with_results_studies_and_notes_and_not_with_progress(ledger):
    seen = [ledger.version()]

    def moved():
        seen.append(ledger.version())
        return seen[-1] > seen[-2]

    study = history.add_study(ledger)
    assert moved()
    experiment_id = ledger.add_experiment(history.spec(study.id), "ada")
    assert moved()
    claim(ledger)
    assert moved()  # the promise froze
    ledger.add_experiment(history.spec(study.id, seed=1), "ada")
    assert moved()
    claim(ledger)
    ledger.queue.touch(experiment_id, 1, 15, phase="build", progress=0.5, message="m", log_lines=["x"])
    ledger.queue.cancel(experiment_id)
    ledger.queue.reap()
    assert not moved()
    ledger.queue.finish(experiment_id, 1, "cancelled", failure=GONE)
    assert moved()
    ledger.queue.interrupt_own("own")
    assert moved()
    ledger.annotate(Annotation(experiment_id=experiment_id, when=datetime.now(UTC)))
    assert moved()
    ledger.archive_study(study.id)
    assert moved()
    ledger.set_request_ms(study.id, 25.0, "ada")
    assert moved()
    ledger.set_preference("ada", "columns", ["p50"])
    assert not moved()


# ---------------------------------------------------------------- notes
def test_of_two_who_edit_one_note_the_second_is_told(ledger, study):
    experiment_id = ledger.add_experiment(history.spec(study.id), "ada")
    assert ledger.annotation(experiment_id) is None
    first = Annotation(experiment_id=experiment_id, note="a\x00 ☕", tags=("x",), who="ada", when=datetime.now(UTC))
    ledger.annotate(first)
    assert ledger.annotation(experiment_id[:26]) == first
    second = first.model_copy(update={"note": "b", "who": "bob", "when": datetime.now(UTC)})
    with pytest.raises(Conflict, match="changed by ada"):
        ledger.annotate(second)
    ledger.annotate(second, expected_when=first.when)
    with pytest.raises(Conflict, match="changed by bob"):
        ledger.annotate(first, expected_when=first.when)
    assert ledger.annotation(experiment_id) == second
    with pytest.raises(NotFound):
        ledger.annotate(first.model_copy(update={"experiment_id": "unknown"}))


def test_of_many_who_save_a_note_at_once_one_wins(ledger, study):
    experiment_id = ledger.add_experiment(history.spec(study.id), "ada")

    def save_all(read):
        barrier = threading.Barrier(6)

        def save(number):
            note = Annotation(experiment_id=experiment_id, note=str(number), when=datetime.now(UTC))
            barrier.wait()
            try:
                ledger.annotate(note, expected_when=read.when if read else None)
            except Conflict:
                return None
            return note

        with ThreadPoolExecutor(6) as threads:
            (won,) = [note for note in threads.map(save, range(6)) if note]
        assert ledger.annotation(experiment_id) == won
        return won

    first = save_all(None)
    for _ in range(5):
        first = save_all(first)


def test_several_notes_change_at_once_and_keep_what_is_not_meant(ledger, study):
    first, second = (ledger.add_experiment(history.spec(study.id, seed), "ada") for seed in (1, 2))
    noted = Annotation(experiment_id=first, note="a", tags=("x",), who="ada", when=datetime.now(UTC))
    ledger.annotate(noted)
    ledger.change_annotations([second, first], lambda note: note.model_copy(update={"archived": True}), "bob")
    found = ledger.annotations()
    assert {one.experiment_id: (one.note, one.tags, one.archived, one.who) for one in found.values()} == {
        first: ("a", ("x",), True, "bob"),
        second: ("", (), True, "bob"),
    }
    with pytest.raises(Conflict, match="changed by bob"):  # who edits meanwhile is told
        ledger.annotate(noted, expected_when=noted.when)
    with pytest.raises(NotFound):
        ledger.change_annotations([first, "unknown"], lambda note: note.model_copy(update={"archived": False}), "bob")
    assert ledger.annotation(first).archived


def test_many_who_tag_the_same_runs_at_once_lose_no_tag(ledger, study):
    ids = [ledger.add_experiment(history.spec(study.id, seed), "ada") for seed in range(3)]
    barrier = threading.Barrier(6)

    def tag(number):
        barrier.wait()
        ledger.change_annotations(
            ids[::-1] if number % 2 else ids,
            lambda note: note.model_copy(update={"tags": (*note.tags, str(number))}),
            "ada",
        )

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(tag, range(6)))
    for experiment_id in ids:
        assert sorted(ledger.annotation(experiment_id).tags) == list("012345")


# ---------------------------------------------------------------- what people add to a study
def test_of_two_who_edit_the_note_of_a_study_the_second_is_told(ledger, study):
    assert ledger.study_annotation(study.id) is None
    first = StudyAnnotation(study_id=study.id, note="a\x00 ☕", tags=("x",), who="ada", when=datetime.now(UTC))
    ledger.annotate_study(first)
    assert ledger.study_annotation(study.id) == first
    second = first.model_copy(update={"note": "b", "who": "bob", "when": datetime.now(UTC)})
    with pytest.raises(Conflict, match="changed by ada"):
        ledger.annotate_study(second)
    ledger.annotate_study(second, expected_when=first.when)
    assert ledger.study_annotations() == {study.id: second}
    with pytest.raises(NotFound):
        ledger.annotate_study(first.model_copy(update={"study_id": "nowhere"}))


def test_the_time_of_a_request_is_kept_beside_the_note(ledger, study):
    set_first = ledger.set_request_ms(study.id, 25.0, "ada")
    assert (set_first.request_ms, set_first.who) == (25.0, "ada")
    note = set_first.model_copy(update={"note": "n", "when": datetime.now(UTC)})
    ledger.annotate_study(note, expected_when=set_first.when)
    ledger.set_request_ms(study.id, 30.0, "bob")
    found = ledger.study_annotation(study.id)
    assert (found.request_ms, found.note, found.who) == (30.0, "n", "bob")
    assert ledger.set_request_ms(study.id, None, "bob").request_ms is None
    for wrong in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(InvalidRequest, match="more than 0 ms"):
            ledger.set_request_ms(study.id, wrong, "ada")
    with pytest.raises(NotFound):
        ledger.set_request_ms("nowhere", 1.0, "ada")


# ---------------------------------------------------------------- what each person likes to see
def test_preferences_belong_to_a_person_and_the_last_one_stays(ledger):
    assert ledger.preferences("ada") == {}
    assert ledger.preference("ada", "columns") is None
    ledger.set_preference("ada", "columns", ["p50", "größe ☕"])
    ledger.set_preference("ada", "columns", ["p99"])
    ledger.set_preference("ada\x00", "columns", {"a": [1, None, True]})
    ledger.set_preference("bob", "sort", "speed")
    assert ledger.preferences("ada") == {"columns": ["p99"]}
    assert ledger.preference("ada\x00", "columns") == {"a": [1, None, True]}
    ledger.set_preference("ada", "columns", None)
    assert ledger.preferences("ada") == {}
    assert ledger.preference("bob", "sort") == "speed"


def test_two_tabs_that_remember_at_once_leave_one_value(ledger):
    barrier = threading.Barrier(8)

    def remember(number):
        barrier.wait()
        ledger.set_preference("ada", "sort", number)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(remember, range(8)))
    assert ledger.preference("ada", "sort") in range(8)


# ---------------------------------------------------------------- many at once, and deaths (P34)
def _write(url, home, study_id, writer, results):
    """What two sessions and a runner do all day; every error ends it and is reported."""
    ledger = Ledger.open(url, home)
    written = []
    try:
        for number in range(N_WRITTEN):
            spec = history.spec(study_id, seed=writer * 1_000_000 + number)
            written.append(ledger.add_experiment(spec, f"writer {writer}"))
            if claimed := ledger.queue.claim(f"own:{writer}", 60, ledger.workspace):
                ledger.queue.touch(claimed.experiment_id, 1, 60, progress=0.5, log_lines=["one", "two"])
                record = history.finished(claimed)
                assert ledger.queue.finish(claimed.experiment_id, 1, "succeeded", experiment_record=record)
        results.put((written, None))
    except BaseException as error:  # noqa: BLE001  # whatever it is, the test must see it
        results.put((written, repr(error)))
    ledger.close()


@pytest.mark.slow
def test_p34_two_writers_and_a_reader_lose_nothing(url, home, ledger, study):
    results = SPAWN.Queue()
    writers = [SPAWN.Process(target=_write, args=(url, home, study.id, number, results)) for number in (1, 2)]
    for writer in writers:
        writer.start()
    n_reads = 0
    while any(writer.is_alive() for writer in writers) and results.qsize() < len(writers):
        states = ledger.queue.states(study.id, active_only=True)
        assert len(states) <= 4
        ledger.version()
        n_reads += 1
        time.sleep(0.01)
    written = []
    for _ in writers:
        ids, error = results.get(timeout=60)
        assert error is None
        written += ids
    for writer in writers:
        writer.join(30)
    found = ledger.experiments()
    assert sorted(run.id for run in found) == sorted(written)
    done = [run for run in found if run.status == "succeeded"]
    assert len(done) >= len(found) - 2
    assert all(run.measurements and len(ledger.queue.log(run.id)) == 2 for run in done[:50])
    assert n_reads > 20
    assert len(written) == len(writers) * N_WRITTEN


def _write_for_ever(url, home, study_id, writer):
    ledger = Ledger.open(url, home)
    seed = writer * 1_000_000
    while True:
        seed += 1
        ledger.add_experiment(history.spec(study_id, seed=seed), "ada")
        claimed = ledger.queue.claim(f"own:{writer}", 60, ledger.workspace)
        if claimed:
            ledger.queue.finish(claimed.experiment_id, 1, "succeeded", experiment_record=history.finished(claimed))


@pytest.mark.slow
def test_writers_killed_in_the_middle_leave_whole_transactions(url, home, ledger, study):
    n_done_before = 0
    for round_number in range(4):
        base = ledger.version()
        before = len(ledger.experiments())
        writers = [
            SPAWN.Process(target=_write_for_ever, args=(url, home, study.id, 10 * round_number + number))
            for number in (1, 2)
        ]
        for writer in writers:
            writer.start()
        while len(ledger.queue.states(study.id)) < before + 10:
            time.sleep(0.02)
        time.sleep(random.uniform(0.05, 0.3))
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
            writer.join(30)
        runs = ledger.experiments()
        n_done = sum(run.status == "succeeded" for run in runs)
        n_running = sum(run.status == "running" for run in runs)
        assert all(bool(run.measurements) == (run.status == "succeeded") for run in runs)
        assert n_running <= 2
        # every transaction that adds or ends an experiment moves the counter by one, and so does the first claim
        assert ledger.version() - base == len(runs) - before + n_done - n_done_before + (round_number == 0)
        ledger.queue.interrupt_own("own")
        n_done_before = n_done
    if ledger.engine.dialect.name == "sqlite":
        with ledger.engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"


def test_a_queue_can_be_had_from_the_engine_alone(ledger, study):
    experiment_id = ledger.add_experiment(history.spec(study.id), "ada")
    assert Queue(ledger.engine).state(experiment_id).status == "queued"
