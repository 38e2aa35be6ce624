"""The life of one attempt: wait for the machine, start the process, hear it, keep it to its limits, judge its end."""

from __future__ import annotations

import math
import re
import signal
import time
from collections import deque
from pathlib import Path
from typing import Any, get_args

import psutil

from engine.environment import memory_limit_bytes
from engine.jobs.child import Child
from engine.jobs.locks import PhaseLocks
from engine.jobs.reporter import Reporter
from engine.records import Failure
from engine.sandbox.child import OUT_OF_MEMORY
from storage.queue import LOST, Claimed, Phase

POLL_S = 0.1
MEMORY_POLL_S, MEMORY_POLL_WHILE_TIMING_S = 0.5, 2.0  # looking at all processes takes a few ms that timing would feel
DEFAULT_TIMEOUT_S = 4 * 3600.0
MEMORY_FRACTION = 0.8
GRACE_S = 10.0  # for a worker to end by itself after its last word
WAITING = "waiting for the machine"
STOPPED = "the job runner was stopped; Retry runs it again"
REASONS = ("error", "signal", "timeout", "memory")
PHASES = frozenset(get_args(Phase)) - {"waiting"}
FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<name>\S+)')


class Attempt:
    """`run` it once. Nothing here blocks: a cancel is heard while waiting for the machine, too."""

    def __init__(self, claimed: Claimed, reporter: Reporter, locks: PhaseLocks, stop: Any) -> None:
        self.parts: dict[str, Any] | None = None  # of an Experiment, when it succeeded
        self.failure: Failure | None = None
        self._reporter, self._locks, self._stop = reporter, locks, stop
        self._timeout_s = claimed.timeout_s or DEFAULT_TIMEOUT_S
        self._memory_bytes = claimed.memory_bytes or int(MEMORY_FRACTION * memory_limit_bytes())
        self._phase: str = "build"
        self._asked: str | None = None  # the phase it waits for
        self._has_spoken = False  # it has sent its result or its error
        self._used_s = 0.0  # waiting does not count
        self._next_memory_poll = 0.0
        self._last_lines: deque[str] = deque(maxlen=100)

    def run(self, module: str, order: dict[str, Any], mark: str, folder: Path) -> None:
        """Run the worker `module` on `order`; afterwards `parts` or `failure` is set and no process is left."""
        while not self._locks.try_acquire("build"):
            self._reporter.tell(phase="waiting", message=WAITING)
            self.failure = self._told_to_stop()
            if self.failure:
                return
            time.sleep(POLL_S)
        self._reporter.tell(phase="build", message="")
        n_killed_before = _n_killed_for_memory()
        child = Child(module, order, mark, folder, self._memory_bytes)
        try:
            self._watch(child)
            code = child.end()
            self._hear_the_rest(child)
            if self.parts is None and self.failure is None:
                self.failure = self._crash(code, _n_killed_for_memory() > n_killed_before)
        finally:
            child.end()
            child.close()

    def _watch(self, child: Child) -> None:
        """Until the process ends or must be ended."""
        last = time.monotonic()
        said_at: float | None = None
        while not child.ended():
            self._hear(child, POLL_S)
            self._grant(child)
            now = time.monotonic()
            self._used_s += 0.0 if self._asked else now - last
            last = now
            if self._has_spoken:
                said_at = said_at or now
                if now - said_at > GRACE_S:
                    return
                continue
            self.failure = self.failure or self._told_to_stop() or self._over_a_limit(child, now)
            if self.failure:
                return

    # ------------------------------------------------------------ what it says
    def _hear(self, child: Child, wait_s: float) -> None:
        for message in child.pump(wait_s):
            self._take(message)
        lines, child.lines = child.lines, []
        self._last_lines.extend(lines)
        self._reporter.tell(lines=lines)

    def _hear_the_rest(self, child: Child) -> None:
        """What a dead process left in its pipes; a stranger who holds them open is not waited for."""
        until = time.monotonic() + 1.0
        while not child.silent and time.monotonic() < until:
            self._hear(child, 0.05)

    def _take(self, message: dict[str, Any]) -> None:
        if self._has_spoken or self.failure is not None:
            return  # it has had its last word
        if "ask" in message:
            self._asked = str(message["ask"])
            if self._asked not in PHASES:
                self.failure = Failure(reason="error", message=f"the worker asked for a phase {self._asked!r}")
        elif "result" in message:
            self.parts, self._has_spoken = message["result"], True
        elif "error" in message:
            self.failure, self._has_spoken = _failure(message["error"]), True
        else:
            phase, progress, text = message.get("phase"), message.get("progress"), message.get("message")
            real = isinstance(progress, (int, float)) and math.isfinite(progress)
            self._reporter.tell(
                phase=phase if phase in PHASES else None,
                progress=min(1.0, max(0.0, float(progress))) if real else None,  # type: ignore[arg-type]
                message=None if text is None else str(text)[:500],
            )

    def _grant(self, child: Child) -> None:
        """Answer its question for a phase as soon as the machine is free for it."""
        if self._asked is None or self._asked not in PHASES:
            return
        if self._locks.try_acquire(self._asked):
            self._phase, self._asked = self._asked, None
            self._reporter.tell(phase=self._phase, message="")  # type: ignore[arg-type]
            child.send({"granted": self._phase})
        else:
            self._reporter.tell(phase="waiting", message=WAITING)

    # ------------------------------------------------------------ why it must end
    def _told_to_stop(self) -> Failure | None:
        if self._reporter.cancelled:
            return Failure(reason="cancelled", message="cancelled")
        if self._reporter.lost or self._reporter.broken:
            return Failure(reason="interrupted", message=LOST)
        if self._stop.is_set():
            return Failure(reason="interrupted", message=STOPPED)
        return None

    def _over_a_limit(self, child: Child, now: float) -> Failure | None:
        if self._used_s > self._timeout_s:
            return Failure(reason="timeout", message=f"stopped after {self._timeout_s:.4g} s, its time limit")
        if now < self._next_memory_poll:
            return None
        self._next_memory_poll = now + (MEMORY_POLL_WHILE_TIMING_S if self._phase == "time" else MEMORY_POLL_S)
        try:
            used_bytes = child.resident_bytes()
        except psutil.Error:  # it ends in this moment
            return None
        if used_bytes <= self._memory_bytes:
            return None
        text = f"stopped at {used_bytes / 1e9:.2f} GB of memory; its limit is {self._memory_bytes / 1e9:.2f} GB"
        return Failure(reason="memory", message=text)

    def _crash(self, code: int, killed_for_memory: bool) -> Failure:
        """It ended without a last word."""
        if killed_for_memory and code == -signal.SIGKILL:
            return Failure(reason="memory", message="the system ran out of memory and killed the process")
        if code >= 0:
            last = self._last_lines[-1] if self._last_lines else "it printed nothing"
            return Failure(reason="error", message=f"the process ended with exit status {code}: {last[:300]}")
        name = signal.Signals(-code).name
        where = _innermost_frame(list(self._last_lines))
        return Failure(reason="signal", message=f"the process crashed with {name}{where}; the log has its last words")


def _failure(error: dict[str, Any]) -> Failure:
    """The worker's own account of what went wrong."""
    message = str(error.get("message", ""))
    reason = error.get("reason") if error.get("reason") in REASONS else "error"
    if reason == "error" and (OUT_OF_MEMORY.search(message) or message.startswith("MemoryError")):
        reason = "memory"
    return Failure(reason=reason, message=message or "the worker gave no reason")


def _innermost_frame(lines: list[str]) -> str:
    """Where Python was when the native code crashed, from what faulthandler printed."""
    begin = next((i for i, line in enumerate(lines) if line.startswith("Current thread")), 0)
    found = next((match for line in lines[begin:] if (match := FRAME.search(line))), None)
    return f" in {found['name']} ({Path(found['file']).name}, line {found['line']})" if found else ""


def _n_killed_for_memory() -> int:
    """How often the kernel has killed a process for want of memory since it started."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
