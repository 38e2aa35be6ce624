"""What the history promises of certificates, on every database it runs on."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from ulid import ULID

from engine.errors import Conflict, NotFound, SchemaTooNew
from engine.records import Certificate, Choice, Hashes, Recipe
from storage.ledger import Ledger
from tests import history

SPAWN = multiprocessing.get_context("spawn")
ROWS = "ab" * 32


def finished(ledger, study, seed=0):
    """One more experiment that succeeded."""
    ledger.add_experiment(history.spec(study.id, seed=seed), "ada")
    claimed = ledger.queue.claim("own:1", 15.0, ledger.workspace)
    record = history.finished(claimed)
    assert ledger.queue.finish(record.id, claimed.attempt, "succeeded", experiment_record=record)
    return record


def certificate(study, experiment, rows=ROWS, **changed):
    values = {
        "id": str(ULID()), "experiment_id": experiment.id, "study_id": study.id, "study_name": study.name,
        "created_at": datetime.now(UTC), "created_by": "ada ☕\x00", "promise": study.promise,
        "promise_sha256": study.promise.fingerprint, "promise_frozen_at": datetime.now(UTC),
        "model_id": history.MODEL_ID, "artefact": history.MANIFEST, "recipe": Recipe(), "runtime": Choice(name="r"),
        "baseline_runtime": Choice(name="r"), "threads": 1, "signature": history.SIGNATURE,
        "eval_set_id": history.EVAL_SET_ID,
        "hashes": Hashes(rows=rows, labels="l", baseline_outputs="b", candidate_outputs="c"),
        "environment": {"cpu_flags": ["avx2"]}, "quality": experiment.quality,
    }  # fmt: skip
    return Certificate(**values | changed)


def test_a_certificate_comes_back_as_it_was_with_its_number(ledger, study):
    run = finished(ledger, study)
    asked = certificate(study, run)
    before = ledger.version()
    taken = ledger.add_certificate(asked)
    assert taken == asked.model_copy(update={"number": 1})
    assert ledger.version() > before
    assert ledger.certificate(taken.id) == ledger.certificate(taken.id[:14].lower()) == taken
    assert ledger.certificate_of(run.id) == taken
    assert ledger.certificates() == ledger.certificates(study.id) == [taken]


def test_an_experiment_is_certified_once(ledger, study):
    run = finished(ledger, study)
    first = ledger.add_certificate(certificate(study, run))
    assert ledger.add_certificate(certificate(study, run, created_by="eve")) == first
    assert ledger.certificates() == [first]


def test_the_promise_has_no_more_than_its_number(ledger, study):
    runs = [finished(ledger, study, seed) for seed in range(4)]
    numbers = [ledger.add_certificate(certificate(study, run)).number for run in runs[:3]]
    assert numbers == [1, 2, 3]
    with pytest.raises(Conflict, match="new rows needed: all 3 certificates"):
        ledger.add_certificate(certificate(study, runs[3]))
    assert len(ledger.certificates()) == 3
    assert ledger.add_certificate(certificate(study, runs[0])).number == 1  # what is there can still be read


def test_the_limit_is_per_promise_and_other_studies_on_the_same_rows_are_told(ledger, study):
    for seed in range(2):
        ledger.add_certificate(certificate(study, finished(ledger, study, seed)))
    second = history.add_study(ledger, name="again")
    third = history.add_study(ledger, name="other rows")
    taken = ledger.add_certificate(certificate(second, finished(ledger, second)))
    assert (taken.number, taken.n_elsewhere) == (1, 2)
    other = ledger.add_certificate(certificate(third, finished(ledger, third), rows="cd" * 32))
    assert (other.number, other.n_elsewhere) == (1, 0)


def test_another_promise_is_refused(ledger, study):
    run = finished(ledger, study)
    with pytest.raises(Conflict, match="not the one that was frozen; make a new study"):
        ledger.add_certificate(certificate(study, run, promise_sha256="0" * 64))
    assert ledger.certificate_of(run.id) is None


def test_what_is_not_there(ledger, study):
    run = finished(ledger, study)
    with pytest.raises(NotFound, match="there is no certificate"):
        ledger.certificate("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    with pytest.raises(NotFound, match="there is no study"):
        ledger.add_certificate(certificate(study, run, study_id="f" * 32))
    assert ledger.certificates() == []


def test_there_is_no_way_to_change_one(ledger):
    names = {name for name in dir(ledger) if "certificate" in name}
    assert names == {"add_certificate", "certificate", "certificate_of", "certificates"}


def test_a_certificate_of_other_code_is_refused_in_words(ledger, study):
    ledger.add_certificate(certificate(study, finished(ledger, study)))
    with ledger.engine.begin() as connection:
        newer = "UPDATE certificate SET document = '{\"new_field\": 1,' || substr(document, 2)"
        connection.execute(sa.text(newer))
    with pytest.raises(SchemaTooNew, match="new_field"):
        ledger.certificates()


def _click(url, home, asked, results):
    ledger = Ledger.open(url, home)
    try:
        results.put(ledger.add_certificate(asked).number)
    except Conflict as error:
        results.put(str(error)[:15])
    finally:
        ledger.close()


def test_two_clicks_at_once_cannot_exceed_the_limit(ledger, url, home, study):
    runs = [finished(ledger, study, seed) for seed in range(6)]
    ledger.add_certificate(certificate(study, runs[0]))
    results = SPAWN.Queue()
    clicks = [SPAWN.Process(target=_click, args=(url, home, certificate(study, run), results)) for run in runs[1:]]
    for click in clicks:
        click.start()
    said = [results.get(timeout=60) for _ in clicks]
    for click in clicks:
        click.join(30)
    assert sorted(map(str, said)) == ["2", "3", *["new rows needed"] * 3]
    assert sorted(one.number for one in ledger.certificates()) == [1, 2, 3]


def test_a_double_click_takes_one_number(ledger, study):
    run = finished(ledger, study)
    with ThreadPoolExecutor(4) as threads:
        taken = list(threads.map(lambda _: ledger.add_certificate(certificate(study, run)), range(4)))
    assert {one.id for one in taken} == {ledger.certificates()[0].id}
