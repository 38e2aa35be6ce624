"""One attempt, with real processes that behave and misbehave."""

from __future__ import annotations

import json
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace

import psutil
import pytest

from engine.jobs import attempt as attempt_module
from engine.jobs.locks import PhaseLocks
from engine.jobs.supervise import supervise, temporary
from storage.ledger import Ledger
from tests import history
from tests.engine.jobs.conftest import Bench, alive, until

WITHIN_S = 3.0  # the promise is about 1 s; this machine may be busy


def attempts() -> list[psutil.Process]:
    """The attempts this process supervises: other tests may have left it a helper of multiprocessing."""
    return [child for child in psutil.Process().children() if "engine.jobs.lifeline" in " ".join(child.cmdline())]


def test_a_result_is_stored_with_what_was_printed(bench):
    run = bench.run("ok")
    assert (run.status, run.attempt, run.created_by, run.device) == ("succeeded", 1, "ada", "cpu")
    assert run.duration_s > 0
    assert sorted(bench.log(run.id)) == ["printed by a child", "printed to stderr", "printed to stdout"]
    state = bench.ledger.queue.state(run.id)
    assert (state.progress, state.phase) == (1.0, None)
    assert list(temporary(bench.setting).iterdir()) == []


def test_progress_is_seen_while_it_runs(bench):
    experiment_id, thread = bench.start("steps", n=8)
    seen = set()

    def look():
        state = bench.ledger.queue.state(experiment_id)
        seen.add((state.phase, state.progress, state.message))
        return state.status == "succeeded"

    until(look)
    thread.join()
    assert len({progress for _, progress, _ in seen if progress}) >= 2
    assert any(message.startswith("step") for _, _, message in seen)


def test_the_worker_sees_no_secret_and_its_own_temporary_folder(bench, monkeypatch):
    secrets = ("WHETSTONE_DATABASE_URL", "DATABASE_URL", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN")
    for name in secrets:
        monkeypatch.setenv(name, "geheim")
    environment = bench.run("ok").environment
    assert "geheim" not in json.dumps(environment)
    assert "PATH" in environment
    assert environment["TMPDIR"].startswith(str(bench.ledger.home / "tmp"))


# ---------------------------------------------------------------- ends that are not good
@pytest.mark.parametrize(
    ("do", "reason", "message"),
    [
        ("segv", "signal", "crashed with SIGSEGV in string_at"),
        ("abort", "signal", "crashed with SIGABRT in abort (fake_worker.py, line"),
        ("exit3", "error", "exit status 3: giving up"),
        ("error", "error", "too bad"),
        ("bad_result", "error", "no experiment"),
        ("unknown_phase", "error", "asked for a phase 'party'"),
    ],
)
def test_a_bad_end_is_said_in_one_sentence(bench, do, reason, message):
    run = bench.run(do)
    assert (run.status, run.error.reason) == ("failed", reason)
    assert message in run.error.message
    assert "\n" not in run.error.message
    assert bench.run("ok").status == "succeeded"


def test_a_crash_leaves_its_trace_in_the_log(bench):
    run = bench.run("segv")
    assert any("Fatal Python error: Segmentation fault" in line for line in bench.log(run.id))
    assert any("fake_worker.py" in line for line in bench.log(run.id))


@pytest.mark.parametrize(("reason", "stored"), [("memory", "memory"), ("signal", "signal"), ("nonsense", "error")])
def test_the_workers_own_reason_is_kept_if_it_is_one(bench, reason, stored):
    assert bench.run("error", reason=reason).error.reason == stored


def test_a_crash_fails_one_and_not_its_neighbour(bench):
    neighbour, thread = bench.start("steps", n=10)
    assert bench.run("segv").status == "failed"
    thread.join()
    assert bench.ledger.experiment(neighbour).status == "succeeded"


def test_a_worker_that_cannot_start_is_a_failure(bench, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    run = bench.run("ok")
    assert (run.status, run.error.reason) == ("failed", "error")
    assert "could not be started" in run.error.message


# ---------------------------------------------------------------- limits
@pytest.mark.parametrize("do", ["sleep", "gil", "deaf"])
def test_the_time_limit_ends_it(bench, do):
    started = time.monotonic()
    run = bench.run(do, timeout_s=1)
    assert (run.status, run.error.reason) == ("failed", "timeout")
    assert "1 s" in run.error.message
    assert time.monotonic() - started < 1 + 4 * WITHIN_S


def test_the_memory_limit_ends_it(bench):
    run = bench.run("hog", memory_bytes=300 << 20)
    assert (run.status, run.error.reason) == ("failed", "memory")
    assert "its limit is 0.31 GB" in run.error.message


def test_one_fast_allocation_meets_a_wall_before_the_poll(bench):
    run = bench.run("burst", gb=6, memory_bytes=1 << 30)
    assert (run.status, run.error.reason) == ("failed", "memory")


def test_the_process_is_set_up_to_fail_first(bench):
    found = bench.run("limits", memory_bytes=1 << 30).environment
    assert found == {"data": 5 << 30, "core": 0, "oom": "1000"}


# ---------------------------------------------------------------- cancel
@pytest.mark.parametrize("do", ["sleep", "gil", "blas"])
def test_cancel_ends_native_code_at_once(bench, do):
    experiment_id, thread = bench.start(do)
    until(lambda: bench.ledger.queue.state(experiment_id).message)
    (child,) = attempts()
    time.sleep(0.3)
    started = time.monotonic()
    assert bench.ledger.queue.cancel(experiment_id) == "running"
    until(lambda: bench.ledger.queue.state(experiment_id).status == "cancelled")
    assert time.monotonic() - started < WITHIN_S
    assert not alive(child.pid)
    thread.join()
    assert bench.ledger.experiment(experiment_id).error.reason == "cancelled"


@pytest.mark.parametrize("then", ["sleep", "end", "crash"])
def test_no_descendant_outlives_the_attempt(bench, tmp_path, then):
    path = tmp_path / "pids"
    experiment_id, thread = bench.start("family", pids=str(path), then=then)
    pids = [int(pid) for pid in until(lambda: path.exists() and path.read_text()).split()]
    if then == "sleep":
        assert all(alive(pid) for pid in pids)
        bench.ledger.queue.cancel(experiment_id)
    thread.join(20)
    assert bench.ledger.experiment(experiment_id).status == {"sleep": "cancelled", "end": "succeeded"}.get(
        then, "failed"
    )
    assert [pid for pid in pids if alive(pid)] == []


def test_a_runner_that_must_end_interrupts(bench):
    experiment_id, thread = bench.start("sleep")
    until(lambda: bench.ledger.queue.state(experiment_id).message)
    bench.stop.set()
    thread.join(10)
    run = bench.ledger.experiment(experiment_id)
    assert (run.status, run.error.reason) == ("interrupted", "interrupted")
    assert "Retry" in run.error.message


def test_an_attempt_that_was_given_to_another_ends_and_writes_nothing(bench):
    experiment_id, thread = bench.start("sleep")
    until(lambda: bench.ledger.queue.state(experiment_id).message)
    (child,) = attempts()
    bench.ledger.queue.interrupt_own("test")
    before = bench.ledger.queue.state(experiment_id)
    thread.join(10)
    assert not thread.is_alive()
    assert not alive(child.pid)
    assert bench.ledger.queue.state(experiment_id) == before


# ---------------------------------------------------------------- what it says
def test_odd_messages_harm_nothing(bench):
    run = bench.run("garbage")
    assert run.status == "succeeded"
    state = bench.ledger.queue.state(run.id)
    assert state.progress == 1.0
    assert bench.log(run.id) == ["not JSON", "[1, 2]", "��� bytes", "30%"]


def test_a_flood_of_lines_is_cut_and_said(bench):
    run = bench.run("flood", n=30_000)
    lines = bench.log(run.id)
    assert run.status == "succeeded"
    assert lines[0] == "line 0"
    assert 200 <= len(lines) < 20_100
    assert max(len(line) for line in lines) < 2100
    assert any("more lines were printed and not kept" in line for line in lines)


def test_a_large_order_reaches_the_worker(bench):
    assert bench.run("ok", categories=["carrier"] * 60_000).status == "succeeded"


def test_a_worker_that_does_not_end_after_its_result_has_succeeded(bench, monkeypatch):
    monkeypatch.setattr(attempt_module, "GRACE_S", 0.5)
    assert bench.run("stubborn").status == "succeeded"


# ---------------------------------------------------------------- waiting for the machine
def test_timing_has_the_machine_alone(bench, tmp_path):
    diary = tmp_path / "diary"
    plan = [("build", 0.2), ("score", 0.2), ("time", 0.5)]
    threads = [bench.start("phases", phases=plan, diary=str(diary))[1] for _ in range(3)]
    for thread in threads:
        thread.join(60)
    events = [line.split() for line in diary.read_text().splitlines()]
    inside: dict[str, str] = {}
    for action, phase, pid, _ in sorted(events, key=lambda event: float(event[3])):
        if action == "in":
            inside[pid] = phase
            assert list(inside.values()).count("time") == 0 or len(inside) == 1
        else:
            inside.pop(pid)
    assert len(events) == 18


def test_waiting_is_shown_renews_the_lease_hears_a_cancel_and_costs_no_time(bench, tmp_path):
    """The prototype waited in a blocking flock: no lease, no cancel, and the wait counted toward the timeout."""
    bench.setting = replace(bench.setting, lease_s=1.5)
    holder = PhaseLocks(tmp_path / "locks")
    assert holder.try_acquire("time")
    patient, unwanted = bench.start("ok", timeout_s=3), bench.start("ok")
    for experiment_id, _ in (patient, unwanted):
        state = until(lambda key=experiment_id: (found := bench.ledger.queue.state(key)).phase == "waiting" and found)
        assert (state.status, state.message) == ("running", "waiting for the machine")
    time.sleep(3.5)  # longer than the leases and the timeout
    assert bench.ledger.queue.reap() == 0
    bench.ledger.queue.cancel(unwanted[0])
    until(lambda: bench.ledger.queue.state(unwanted[0]).status == "cancelled", WITHIN_S)
    assert attempts() == []
    holder.release()
    for _, thread in (patient, unwanted):
        thread.join(20)
    assert bench.ledger.experiment(patient[0]).status == "succeeded"


def test_a_phase_asked_for_in_the_middle_waits_too(bench, tmp_path):
    experiment_id, thread = bench.start(
        "phases", phases=[("build", 1.0), ("time", 0.1)], diary=str(tmp_path / "diary"), timeout_s=3
    )
    reader = PhaseLocks(tmp_path / "locks")
    until(lambda: bench.ledger.queue.state(experiment_id).phase == "build")
    assert reader.try_acquire("score")
    until(lambda: bench.ledger.queue.state(experiment_id).phase == "waiting")
    time.sleep(3)
    assert bench.ledger.queue.state(experiment_id).status == "running"
    assert not PhaseLocks(tmp_path / "locks").try_acquire("build")  # it holds the gate
    reader.release()
    thread.join(20)
    assert bench.ledger.experiment(experiment_id).status == "succeeded"


# ---------------------------------------------------------------- a database in trouble
def test_a_database_that_is_away_for_a_while_loses_nothing(url, home, tmp_path, caplog):
    """The child goes on, the lines and the result wait."""
    ledger = Ledger.open(f"{url}?timeout=0.2", home)
    bench = Bench(ledger, history.add_study(ledger), tmp_path)
    experiment_id, thread = bench.start("steps", n=6)
    until(lambda: ledger.queue.state(experiment_id).message)
    with (
        caplog.at_level(logging.WARNING, "whetstone.jobs"),
        sqlite3.connect(tmp_path / "whetstone.db", isolation_level=None) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        time.sleep(3)
        assert ledger.queue.state(experiment_id).status == "running"
        other.execute("ROLLBACK")
    thread.join(30)
    assert "the history is busy" in caplog.text
    assert ledger.experiment(experiment_id).status == "succeeded"
    assert bench.log(experiment_id) == [f"did step {number}" for number in range(6)]
    ledger.close()


@pytest.mark.postgres
def test_a_server_that_goes_down_and_comes_back_loses_nothing(home, tmp_path):
    programs = history.programs()
    if programs is None:
        pytest.skip("not run: no PostgreSQL server")
    server = history.Server(programs)
    server.start()
    ledger = Ledger.open(f"{server.url}/postgres", home)
    try:
        bench = Bench(ledger, history.add_study(ledger), tmp_path)
        experiment_id, thread = bench.start("steps", n=8)
        until(lambda: ledger.queue.state(experiment_id).message)
        server.stop()
        time.sleep(2.5)  # the child ends meanwhile
        server.start()
        thread.join(30)
        assert ledger.experiment(experiment_id).status == "succeeded"
        assert bench.log(experiment_id) == [f"did step {number}" for number in range(8)]
    finally:
        ledger.close()
        server.remove()


# ---------------------------------------------------------------- death of the supervisor
def test_the_process_dies_with_its_supervisor(bench, tmp_path):
    path = tmp_path / "pids"
    experiment_id = bench.ask("family", pids=str(path), then="sleep")
    code = (
        "import sys, threading; from pathlib import Path; from storage.ledger import Ledger\n"
        "from engine.jobs.supervise import Setting, supervise\n"
        "ledger = Ledger.open(sys.argv[1], Path(sys.argv[2]))\n"
        "setting = Setting(ledger.home, Path(sys.argv[3]), 'x', threading.Event(), worker='fake_worker')\n"
        "supervise(ledger.queue, ledger.queue.claim('x:1', 15), setting)\n"
    )
    command = [sys.executable, "-c", code, bench.ledger.url, bench.ledger.home, tmp_path / "locks"]
    supervisor = subprocess.Popen([str(part) for part in command])
    until(lambda: path.exists() and path.read_text())
    (worker,) = psutil.Process(supervisor.pid).children()
    os.kill(supervisor.pid, signal.SIGKILL)
    supervisor.wait()
    until(lambda: not alive(worker.pid), WITHIN_S)
    assert bench.ledger.queue.state(experiment_id).status == "running"  # until a runner looks
    for pid in path.read_text().split():
        if alive(int(pid)):
            os.kill(int(pid), signal.SIGKILL)  # a runner that starts does this: see test_runner


def test_an_unclaimed_attempt_is_not_run_twice(bench):
    bench.ask("ok")
    claimed = bench.claim()
    assert supervise(bench.ledger.queue, claimed, bench.setting) == "succeeded"
    assert supervise(bench.ledger.queue, claimed, bench.setting) is None
