"""The detached runner, killed, doubled, replaced, idle: with real processes, on both databases where it matters."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from engine.errors import Conflict
from engine.jobs import submit
from engine.jobs.child import ROOT
from engine.jobs.locks import FileLock
from engine.jobs.ownership import CODE_VERSION, database_key, owner
from engine.jobs.runner import serve
from engine.jobs.supervise import Setting
from engine.records import TERMINAL
from storage.ledger import Ledger
from storage.schema import REVISION
from tests import history
from tests.engine.jobs.conftest import alive, until

FAKE = ("--worker", "fake_worker", "--idle-exit-s", "30")


on_both_databases = pytest.mark.parametrize("url", history.BOTH, indirect=True)


@pytest.fixture
def desk(ledger, study, tmp_path):
    desk = Desk(ledger, study, tmp_path)
    yield desk
    desk.clear()


class Desk:
    """Ask for experiments and look after the runners of this test's home."""

    def __init__(self, ledger, study, tmp_path):
        self.ledger, self.study, self.diary = ledger, study, tmp_path / "diary"
        self.url, self.home = ledger.url, ledger.home
        self.n_asked = 0

    def ask(self, do, **params):
        self.n_asked += 1
        return self.ledger.add_experiment(history.spec(self.study.id, self.n_asked, do=do, **params), "ada")

    def note(self, s=0.0):
        return self.ask("diary", diary=str(self.diary), s=s)

    def ensure(self, *options):
        submit.ensure_runner(self.ledger, *(options or FAKE))

    def status(self, experiment_id):
        return self.ledger.queue.state(experiment_id).status

    def all_end(self, ids, timeout_s=60):
        until(lambda: all(self.status(key) in TERMINAL for key in ids), timeout_s)
        return [self.status(key) for key in ids]

    def starts(self):
        lines = self.diary.read_text().splitlines() if self.diary.exists() else []
        return Counter(line.split()[1] for line in lines if line.startswith("start"))

    def runners(self):
        found = []
        for process in psutil.process_iter():
            try:
                line = process.cmdline()
            except psutil.Error:
                continue
            if "engine.jobs.runner" in line and str(self.home) in line and alive(process.pid):
                found.append(process)
        return found

    def clear(self):
        for runner in self.runners():
            runner.terminate()
        psutil.wait_procs(self.runners(), timeout=15)
        for runner in self.runners():
            runner.kill()


def kill(process):
    os.kill(process.pid, signal.SIGKILL)
    until(lambda: not psutil.pid_exists(process.pid))  # a zombie's threads may hold its locks for a moment more


def test_a_submitted_experiment_is_run_and_waited_for(desk, monkeypatch):
    desk.ensure()
    experiment_id = submit.submit(desk.ledger, history.spec(desk.study.id, do="steps"), "ada", priority=1)
    seen = []
    run = submit.wait(desk.ledger, experiment_id, seen.append)
    assert (run.id, run.status) == (experiment_id, "succeeded")
    assert seen[-1].status == "succeeded"
    assert len({state.progress for state in seen}) >= 2
    assert len(desk.runners()) == 1


def test_the_url_is_on_no_command_line_and_the_worker_does_not_have_it(desk):
    desk.ensure()
    experiment_id = desk.ask("sleep")
    until(lambda: desk.ledger.queue.state(experiment_id).message)
    (runner,) = desk.runners()
    (worker,) = runner.children()
    for process in (runner, worker):
        assert "://" not in " ".join(process.cmdline())
    assert runner.environ()["WHETSTONE_DATABASE_URL"] == desk.url
    assert "WHETSTONE_DATABASE_URL" not in worker.environ()
    submit.cancel(desk.ledger, experiment_id)


@on_both_databases
def test_kill_of_the_runner_interrupts_the_running_and_finishes_the_queued(desk):
    """`kill -9` in mid-job: the running one shows as interrupted, Retry works, queued ones finish, nothing twice."""
    running = desk.note(s=600)
    desk.ensure()
    until(lambda: desk.starts()[running])
    queued = [desk.note() for _ in range(4)]
    (runner,) = desk.runners()
    children = runner.children(recursive=True)
    started = time.monotonic()
    kill(runner)
    until(lambda: not any(alive(child.pid) for child in children))
    desk.ensure()
    until(lambda: desk.status(running) == "interrupted")
    assert time.monotonic() - started < 10  # by its own hand: the lease of 15 s has not run out
    assert desk.all_end(queued) == ["succeeded"] * 4
    retried = submit.retry(desk.ledger, running, "bob")
    with pytest.raises(Conflict):
        submit.retry(desk.ledger, retried, "bob")
    until(lambda: desk.starts()[retried])
    submit.cancel(desk.ledger, retried)
    assert desk.all_end([retried]) == ["cancelled"]
    assert desk.ledger.experiment(retried).retry_of == running
    assert set(desk.starts().values()) == {1}
    assert desk.status(running) == "interrupted"


def test_what_a_killed_attempt_left_running_is_ended_by_the_next_runner(desk, tmp_path):
    path = tmp_path / "pids"
    experiment_id = desk.ask("family", pids=str(path), then="sleep")
    desk.ensure()
    pids = [int(pid) for pid in until(lambda: path.exists() and path.read_text()).split()]
    kill(desk.runners()[0])
    desk.ensure()
    until(lambda: desk.status(experiment_id) == "interrupted")
    until(lambda: not any(alive(pid) for pid in pids))
    until(lambda: not list((desk.home / "tmp").glob("*/*")))


APP = """
import sys, time
from pathlib import Path
from engine.jobs.submit import ensure_runner
from storage.ledger import Ledger
ensure_runner(Ledger.open(sys.argv[1], Path(sys.argv[2])), "--worker", "fake_worker", "--idle-exit-s", "30")
print("up", flush=True)
time.sleep(600)
"""


def test_kill_of_the_app_stops_no_job(desk):
    app = subprocess.Popen(
        [sys.executable, "-c", APP, desk.url, desk.home], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert app.stdout.readline() == "up\n"
    ids = [desk.note(s=0.7) for _ in range(3)]
    until(desk.starts)
    os.killpg(app.pid, signal.SIGKILL)
    app.wait()
    assert desk.all_end(ids) == ["succeeded"] * 3
    assert desk.starts() == Counter(ids)


@on_both_databases
def test_many_who_want_a_runner_get_one(desk):
    threads = [threading.Thread(target=desk.ensure) for _ in range(6)]
    apps = [
        subprocess.Popen([sys.executable, "-c", APP, desk.url, desk.home], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for app in apps:
        assert app.stdout.readline() == "up\n"
        app.kill()
        app.wait()
    ids = [desk.note() for _ in range(6)]
    assert desk.all_end(ids) == ["succeeded"] * 6
    assert desk.starts() == Counter(ids)
    assert len(desk.runners()) == 1


@on_both_databases
def test_other_spellings_of_the_database_are_the_same_one(desk, tmp_path, monkeypatch):
    if desk.url.startswith("sqlite"):
        (tmp_path / "link.db").symlink_to(tmp_path / "whetstone.db")
        monkeypatch.chdir(tmp_path)
        spellings = ["sqlite:///whetstone.db", "sqlite:///link.db"]
    else:
        spellings = [desk.url.replace("127.0.0.1", "localhost"), desk.url.replace("+psycopg", "")]
    desk.ensure()
    (runner,) = desk.runners()
    for spelling in spellings:
        same = Ledger.open(spelling, desk.home)
        submit.ensure_runner(same, *FAKE)
        same.close()
    time.sleep(0.5)
    assert desk.runners() == [runner]


def test_another_home_on_the_same_database_has_a_runner_of_its_own(desk, tmp_path):
    other = Ledger.open(desk.url, tmp_path / "other home")
    assert database_key(other) != database_key(desk.ledger)
    theirs = other.add_experiment(history.spec(desk.study.id, seed=99, do="ok"), "bob")
    mine = desk.ask("ok")
    desk.ensure()
    assert desk.all_end([mine]) == ["succeeded"]
    assert desk.status(theirs) == "queued"
    submit.ensure_runner(other, "--worker", "fake_worker", "--idle-exit-s", "0")
    assert desk.all_end([theirs]) == ["succeeded"]
    other.close()


@on_both_databases
def test_a_machine_that_is_gone_loses_its_attempts_when_the_lease_ends(desk):
    """Reaped although this runner is busy all the time: the prototype looked only when it was idle."""
    lost = desk.ask("ok")
    desk.ledger.queue.claim("another machine:1", 3.0, desk.ledger.workspace)
    busy = [desk.ask("sleep") for _ in range(2)]
    desk.ensure()
    until(lambda: [desk.status(key) for key in busy] == ["running", "running"])
    until(lambda: desk.status(lost) == "interrupted")
    assert [desk.status(key) for key in busy] == ["running", "running"]
    for key in busy:
        submit.cancel(desk.ledger, key)
    assert desk.all_end(busy) == ["cancelled"] * 2


def test_a_runner_without_work_ends_and_one_comes_when_there_is(desk):
    for _ in range(3):
        desk.ensure("--worker", "fake_worker", "--idle-exit-s", "0.3")
        assert desk.all_end([desk.note()]) == ["succeeded"]
        until(lambda: not desk.runners())
    assert desk.ledger.runners.code_version(owner(desk.ledger)) is None


class LastMoment(FileLock):
    """A runner's lock; when it is about to be given up for the first time, somebody queues a job and sees it held."""

    def __init__(self, path, queue_a_job):
        super().__init__(path)
        self.queue_a_job = queue_a_job

    def release(self):
        if self.held and self.queue_a_job:
            self.queue_a_job()
            self.queue_a_job = None
        super().release()


def test_no_job_is_forgotten_by_a_runner_that_is_about_to_end(desk, tmp_path):
    ids = []

    def queue_a_job():
        ids.append(desk.note())
        desk.ensure()
        assert desk.runners() == []  # the lock was held, so nobody was started

    lock = LastMoment(submit.runner_lock(desk.ledger), queue_a_job)
    assert lock.try_acquire()
    setting = Setting(desk.home, tmp_path / "locks", owner(desk.ledger), threading.Event(), worker="fake_worker")
    desk.ledger.runners.register(f"{owner(desk.ledger)}:x", CODE_VERSION, REVISION)
    serve(desk.ledger, lock, setting, slots=1, idle_exit_s=0.1)
    assert [desk.status(key) for key in ids] == ["succeeded"]
    assert not lock.held


def test_stopping_the_runner_interrupts_its_attempts(desk):
    experiment_id = desk.ask("gil")
    desk.ensure()
    until(lambda: desk.ledger.queue.state(experiment_id).message)
    (runner,) = desk.runners()
    runner.terminate()
    until(lambda: not alive(runner.pid))
    assert desk.status(experiment_id) == "interrupted"


def test_the_log_says_what_happened(desk):
    desk.ensure("--worker", "fake_worker", "--idle-exit-s", "0.2")
    experiment_id = desk.ask("segv")
    desk.ensure("--worker", "fake_worker", "--idle-exit-s", "0.2")
    desk.all_end([experiment_id])
    until(lambda: not desk.runners())
    text = (desk.home / "logs" / "runner.log").read_text()
    assert f"{experiment_id}/1: started" in text
    assert f"{experiment_id}/1: failed" in text
    assert desk.url not in text


@pytest.fixture
def old_code(tmp_path):
    """The code of another release: the same with one more comment."""
    folder = tmp_path / "old release"
    for room in ("engine", "storage"):
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    with (folder / "storage" / "ledger.py").open("a") as file:
        file.write("# an older release\n")
    return folder


@on_both_databases
def test_a_runner_of_other_code_finishes_its_attempts_and_is_replaced(desk, old_code):
    running = desk.note(s=2.5)
    environment = os.environ | {"WHETSTONE_DATABASE_URL": desk.url}
    command = [sys.executable, "-m", "engine.jobs.runner", "--home", str(desk.home), *FAKE]
    old = subprocess.Popen(command, cwd=old_code, env=environment, start_new_session=True)
    until(lambda: desk.starts()[running])
    key = owner(desk.ledger)
    assert desk.ledger.runners.code_version(key) not in {CODE_VERSION, None}
    queued = [desk.note() for _ in range(2)]
    for _ in range(3):  # one successor is enough
        desk.ensure()
    until(lambda: desk.ledger.runners.code_version(key) == CODE_VERSION)
    assert old.wait(10) == 0
    assert desk.status(running) == "succeeded"
    assert desk.all_end(queued) == ["succeeded"] * 2
    assert desk.starts() == Counter([running, *queued])
    assert len(until(lambda: len(found := desk.runners()) == 1 and found)) == 1


def test_a_second_runner_of_the_same_code_goes_away(desk):
    desk.ensure()
    until(lambda: desk.ledger.runners.code_version(owner(desk.ledger)) == CODE_VERSION)
    environment = os.environ | {"WHETSTONE_DATABASE_URL": desk.url}
    command = [sys.executable, "-m", "engine.jobs.runner", "--home", str(desk.home)]
    assert subprocess.run(command, cwd=ROOT, env=environment, timeout=30, check=False).returncode == 0
    assert len(desk.runners()) == 1


def test_a_runner_that_finds_newer_tables_ends_with_a_sentence(desk):
    import sqlalchemy as sa

    with desk.ledger.engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    environment = os.environ | {"WHETSTONE_DATABASE_URL": desk.url}
    command = [sys.executable, "-m", "engine.jobs.runner", "--home", str(desk.home)]
    assert subprocess.run(command, cwd=ROOT, env=environment, timeout=30, check=False).returncode == 1
    assert "written by a newer Whetstone" in Path(desk.home / "logs" / "runner.log").read_text()
