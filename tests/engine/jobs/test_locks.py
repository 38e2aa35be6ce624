"""Shared work and timing on one machine."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from engine.errors import HistoryUnavailable
from engine.jobs.locks import FileLock, PhaseLocks, lock_folder


@pytest.fixture
def three(tmp_path):
    return [PhaseLocks(tmp_path) for _ in range(3)]


def test_build_and_score_share_the_machine(three):
    assert all(locks.try_acquire(phase) for locks, phase in zip(three, ("build", "score", "build"), strict=True))


def test_timing_is_alone(three):
    first, second, third = three
    assert first.try_acquire("time")
    assert not second.try_acquire("build")
    assert not third.try_acquire("time")
    first.release()
    assert third.try_acquire("time")


def test_asking_again_for_what_is_held_is_granted(three):
    assert three[0].try_acquire("time")
    assert three[0].try_acquire("time")
    assert three[0].try_acquire("score")
    assert three[1].try_acquire("build")


def test_who_waits_to_be_alone_is_passed_by_nobody(three):
    working, waiting, newcomer = three
    assert working.try_acquire("build")
    assert not waiting.try_acquire("time")
    assert not newcomer.try_acquire("build")
    working.release()
    assert not newcomer.try_acquire("build")
    assert waiting.try_acquire("time")
    waiting.release()
    assert newcomer.try_acquire("build")


def test_giving_up_the_wait_opens_the_gate(three):
    working, waiting, newcomer = three
    working.try_acquire("build")
    waiting.try_acquire("time")
    waiting.release()
    assert newcomer.try_acquire("build")
    working.try_acquire("score")
    assert not waiting.try_acquire("time")
    assert waiting.try_acquire("score")  # it changed its mind
    assert three[0].try_acquire("score")


def test_two_who_change_from_shared_to_alone_take_turns(three):
    first, second, _ = three
    assert first.try_acquire("build")
    assert second.try_acquire("build")
    assert not first.try_acquire("time")
    assert not second.try_acquire("time")
    assert first.try_acquire("time")
    assert not second.try_acquire("time")
    first.release()
    assert second.try_acquire("time")


def test_a_stream_of_shared_work_does_not_starve_timing(tmp_path):
    """With one flock and overlapping shared holders, the exclusive one waited 5.8 of 6 seconds."""
    stop = threading.Event()

    def stream():
        locks = PhaseLocks(tmp_path)
        while not stop.is_set():
            if locks.try_acquire("build"):
                time.sleep(0.05)
                locks.release()
            time.sleep(0.001)

    workers = [threading.Thread(target=stream) for _ in range(4)]
    for worker in workers:
        worker.start()
    time.sleep(0.2)
    timing = PhaseLocks(tmp_path)
    n_polls = 0
    while not timing.try_acquire("time"):
        n_polls += 1
        time.sleep(0.01)
        assert n_polls < 300
    stop.set()
    for worker in workers:
        worker.join()


HOLD = "import sys; from pathlib import Path; from engine.jobs.locks import {name}; lock = {name}(Path(sys.argv[1])); "


@pytest.mark.parametrize(
    ("name", "take", "path"), [("PhaseLocks", "try_acquire('time')", ""), ("FileLock", "try_acquire()", "x.lock")]
)
def test_a_killed_holder_holds_nothing(tmp_path, name, take, path):
    target = tmp_path / path if path else tmp_path
    code = HOLD.format(name=name) + f"print(lock.{take}, flush=True); sys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", code, target], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "True\n"

    def take_it():
        return FileLock(target).try_acquire() if path else PhaseLocks(target).try_acquire("build")

    assert not take_it()
    holder.kill()
    holder.communicate()
    assert take_it()


def test_a_child_keeps_the_lock_it_inherited(tmp_path):
    lock = FileLock(tmp_path / "x.lock")
    assert lock.try_acquire()
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[lock.fd])
    lock.release()
    assert not lock.held
    assert not FileLock(lock.path).try_acquire()
    child.communicate()
    assert FileLock(lock.path).try_acquire()


def test_a_lock_file_that_was_swept_away_is_no_lock(tmp_path):
    first = FileLock(tmp_path / "x.lock")
    assert first.try_acquire()
    first.path.unlink()
    second = FileLock(tmp_path / "x.lock")
    assert second.try_acquire()
    assert not FileLock(tmp_path / "x.lock").try_acquire()


def test_the_folder_is_one_for_all_homes_and_only_ours(monkeypatch, tmp_path):
    monkeypatch.setenv("WHETSTONE_LOCK_DIR", str(tmp_path / "new"))
    assert lock_folder().stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("WHETSTONE_LOCK_DIR")
    assert str(lock_folder()).startswith("/tmp/whetstone-")


@pytest.mark.parametrize("kind", ["open to all", "link"])
def test_a_folder_somebody_else_could_have_laid_is_refused(monkeypatch, tmp_path, kind):
    folder = tmp_path / "trap"
    if kind == "link":
        folder.symlink_to(tmp_path)
    else:
        folder.mkdir()
        folder.chmod(0o777)
    monkeypatch.setenv("WHETSTONE_LOCK_DIR", str(folder))
    with pytest.raises(HistoryUnavailable, match="only you can write"):
        lock_folder()
