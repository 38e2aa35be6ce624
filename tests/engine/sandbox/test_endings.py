"""How a confined function ends when it misbehaves, and what is left of it: one sentence, no process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from engine.sandbox import Limits
from tests.engine.sandbox.confining import HERE, contained, linux


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def wait_until_dead(pids, seconds=5.0) -> list[int]:
    until = time.monotonic() + seconds
    while (left := [pid for pid in pids if alive(pid)]) and time.monotonic() < until:
        time.sleep(0.02)
    return left


def test_segfault():
    error = contained("segfault")
    assert error.reason == "signal"
    assert "SIGSEGV" in str(error)


def test_abort():
    error = contained("abort")
    assert error.reason == "signal"
    assert "SIGABRT" in str(error)


def test_memory():
    error = contained("hog_memory", limits=Limits(memory_bytes=512 << 20, wall_s=60))
    assert error.reason == "memory"
    assert "0.5 GiB" in str(error)


def test_memory_asked_for_by_native_code():
    assert contained("hog_memory_natively", limits=Limits(wall_s=60)).reason == "memory"


def test_endless_loop():
    error = contained("spin", limits=Limits(wall_s=0.5))
    assert error.reason == "timeout"
    assert "0.5 s" in str(error)


def test_processor_time():
    error = contained("spin", limits=Limits(cpu_s=1, wall_s=30))
    assert error.reason == "timeout"
    assert "1 s of processor time" in str(error)


def test_file_size(tmp_path):
    error = contained("big_file", {"path": str(tmp_path / "big")}, write=tmp_path, limits=Limits(file_bytes=1 << 20))
    assert str(error).startswith("OSError")


def test_stuck_child_is_killed_with_all_it_started():
    pids = []
    error = contained(
        "leave_grandchildren", limits=Limits(wall_s=2), on_message=lambda message: pids.extend(message["pids"])
    )
    assert error.reason == "timeout"
    assert len(pids) == 4
    assert wait_until_dead(pids) == []


@linux
def test_death_of_the_parent_kills_the_child_and_all_it_started():
    code = (
        "from engine.sandbox import run\n"
        f"run('{HERE}:leave_grandchildren', {{}}, on_message=lambda m: print(*m['pids'], flush=True))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=Path.cwd())
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 4
    assert all(alive(pid) for pid in pids)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert wait_until_dead(pids) == []
