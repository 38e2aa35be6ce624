"""One attempt's process and the pipes to it: JSON lines in and out, its output as log lines. Never blocks."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from engine.jobs import processes

ROOT = Path(__file__).parents[2]
KEPT = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV"}
KEPT_PREFIXES = ("LC_", "PYTHON", "CUDA_", "NVIDIA_", "OMP_", "MKL_", "OPENBLAS_")
MESSAGE_BYTES = 64 << 20
LINE_CHARACTERS = 2000
DATA_SLACK_BYTES = 4 << 30  # above the polled limit: thread stacks and what is mapped but never filled


def worker_environment(mark: str, folder: Path) -> dict[str, str]:
    """What the worker sees: no database URL, no secrets; temporary files go to `folder`."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith(KEPT_PREFIXES)}
    return kept | {processes.MARK: mark, "TMPDIR": str(folder), "PYTHONUNBUFFERED": "1"}


class Child:
    """A running attempt. `lines`: what it printed since they were last taken; `messages` come from `pump`."""

    def __init__(self, module: str, order: dict[str, Any], mark: str, folder: Path, memory_bytes: int) -> None:
        child_in, self._to_child = os.pipe()
        self._from_child, child_out = os.pipe()
        self._log, child_log = os.pipe()
        command = [sys.executable, "-X", "faulthandler", "-m", "engine.jobs.lifeline", str(os.getpid())]
        try:
            self.process = subprocess.Popen(
                [*command, str(memory_bytes + DATA_SLACK_BYTES), module, str(child_in), str(child_out)],
                stdin=subprocess.DEVNULL,
                stdout=child_log,
                stderr=child_log,
                cwd=ROOT,
                env=worker_environment(mark, folder),
                pass_fds=(child_in, child_out),
                start_new_session=True,
            )
        except BaseException:
            self._close_all(self._to_child, self._from_child, self._log)
            raise
        finally:
            self._close_all(child_in, child_out, child_log)
        self.mark = mark
        self.lines: list[str] = []
        self.seen: set[psutil.Process] = set()  # descendants, to be found again when they lose their parent
        self._outgoing = bytearray()
        self._parts = {self._from_child: bytearray(), self._log: bytearray()}
        self._selector = selectors.DefaultSelector()
        for fd in (self._to_child, self._from_child, self._log):
            os.set_blocking(fd, False)
        for fd in self._parts:
            self._selector.register(fd, selectors.EVENT_READ)
        self.send(order)

    # ------------------------------------------------------------ talk
    def send(self, message: dict[str, Any]) -> None:
        """Put a message on its way; `pump` carries it."""
        if not self._outgoing and self._to_child not in self._selector.get_map():
            self._selector.register(self._to_child, selectors.EVENT_WRITE)
        self._outgoing += json.dumps(message).encode() + b"\n"

    def pump(self, wait_s: float) -> list[dict[str, Any]]:
        """Carry bytes both ways for up to `wait_s`; the messages that came."""
        messages: list[dict[str, Any]] = []
        if not self._selector.get_map():
            time.sleep(wait_s)
        for key, _ in self._selector.select(wait_s):
            if key.fd == self._to_child:
                self._write()
            else:
                for line in self._read(key.fd):
                    self._take(key.fd, line, messages)
        return messages

    def _write(self) -> None:
        try:
            del self._outgoing[: os.write(self._to_child, self._outgoing[: 1 << 20])]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._outgoing.clear()
        if not self._outgoing:
            self._selector.unregister(self._to_child)

    def _read(self, fd: int) -> list[bytes]:
        """Whole lines that arrived; the rest of the text too once the pipe is closed."""
        data = os.read(fd, 1 << 16)
        part = self._parts[fd]
        part += data
        if not data:
            self._selector.unregister(fd)
            lines = [bytes(part)] if part else []
            part.clear()
            return lines
        most = MESSAGE_BYTES if fd == self._from_child else 4 * LINE_CHARACTERS
        if b"\n" not in data:
            if len(part) <= most:
                return []
            part += b"\n"
        *whole, rest = bytes(part).split(b"\n")
        part[:] = rest
        return whole

    def _take(self, fd: int, line: bytes, messages: list[dict[str, Any]]) -> None:
        if fd == self._from_child:
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            if isinstance(message, dict):
                messages.append(message)
                return
        text = line.decode("utf-8", "replace").rstrip().rpartition("\r")[2]  # a progress bar: its last state
        if text:
            self.lines.append(text if len(text) <= LINE_CHARACTERS else text[:LINE_CHARACTERS] + " …")

    @property
    def silent(self) -> bool:
        """True when both of its pipes are closed at its end."""
        return not any(fd in self._selector.get_map() for fd in self._parts)

    # ------------------------------------------------------------ life
    def ended(self) -> bool:
        """True when the process has ended. It is not reaped yet, so its number is still its own."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def resident_bytes(self) -> int:
        """Memory of the process and all below it, now."""
        below = processes.descendants(self.process.pid)
        self.seen |= below
        return processes.resident_bytes([psutil.Process(self.process.pid), *below])

    def end(self) -> int:
        """Kill whatever is left of the attempt and reap it. Returns its exit code (-9: SIGKILL)."""
        if self.process.returncode is None:
            processes.end_tree(self.process.pid, self.seen)
            self.process.wait()
            processes.end_marked(lambda mark: mark == self.mark)
        return self.process.returncode

    def close(self) -> None:
        """Close the pipes."""
        self._selector.close()
        self._close_all(self._to_child, self._from_child, self._log)

    @staticmethod
    def _close_all(*fds: int) -> None:
        for fd in fds:
            os.close(fd)
