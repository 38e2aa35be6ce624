"""Many sessions that watch the same jobs share one look at them, and nobody is told less than was known."""

from engine.records import Choice, ExperimentSpec
from pages._ui import loaders


def ask_run(ledger, study):
    spec = ExperimentSpec(
        study_id=study.id, runtime=Choice(name="lightgbm_native"), workloads=(study.workload,), seed=9
    )
    return ledger.add_experiment(spec, "Asha")


def test_who_watches_shares_a_look(ledger, study, monkeypatch):
    assert loaders.watched_jobs(study.id) == []
    assert loaders.watched_jobs(study.id) is loaders.watched_jobs(study.id)
    monkeypatch.setattr(loaders, "SHARED_S", 0.0)
    assert loaders.watched_jobs(study.id) is not loaders.watched_jobs(study.id)


def test_a_look_that_is_asked_for_is_new_and_is_what_others_see_then(ledger, study):
    before = loaders.watched_jobs(study.id)
    asked = ask_run(ledger, study)
    assert loaders.watched_jobs(study.id) is before
    now = loaders.active_jobs(study.id)
    assert [one.experiment_id for one in now] == [asked]
    assert loaders.watched_jobs(study.id) is now


def test_after_a_change_of_their_own_people_see_it_at_once(ledger, study):
    asked = ask_run(ledger, study)
    assert [one.status for one in loaders.watched_jobs(study.id)] == ["queued"]
    ledger.queue.cancel(asked)
    loaders.look_again()
    assert loaders.watched_jobs(study.id) == []
