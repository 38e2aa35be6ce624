"""The processes of one attempt: find them all, add up their memory, end them all."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import psutil

MARK = "WHETSTONE_ATTEMPT"  # environment variable of every process of an attempt: owner/experiment/attempt


def descendants(pid: int) -> set[psutil.Process]:
    """Children of a process, and theirs, whatever session they are in."""
    with suppress(psutil.Error):
        return set(psutil.Process(pid).children(recursive=True))
    return set()


def resident_bytes(processes: Iterable[psutil.Process]) -> int:
    """Memory the processes hold together; pages they share count once for each."""
    total = 0
    for process in processes:
        with suppress(psutil.Error):
            total += int(process.memory_info().rss)
    return total


def end_tree(pid: int, known: Iterable[psutil.Process] = ()) -> None:
    """SIGKILL a process that is not reaped yet, its group and all descendants, also those that left the group.

    `known`: descendants seen before, which may have lost their parent since. The process is stopped first and, being
    the reaper of its orphans, keeps every descendant findable until none is left.
    """
    _signal(pid, signal.SIGSTOP)
    for _ in range(50):
        alive = [process for process in descendants(pid) if _is_alive(process)]
        if not alive:
            break
        for process in alive:
            _signal(process.pid, signal.SIGKILL)
        time.sleep(0.01)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    _signal(pid, signal.SIGKILL)
    _end({process for process in known if _is_alive(process)})


def end_marked(fits: Callable[[str], bool]) -> int:
    """SIGKILL the processes whose MARK fits: what an attempt left behind, detached as it may be. Returns how many."""
    left = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if fits(process.environ().get(MARK, "")) and process.pid != os.getpid() and _is_alive(process):
                left.add(process)
    _end(left)
    return len(left)


def _end(processes: set[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.kill()  # psutil looks at the start time, so a number used anew is safe


def _is_alive(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
