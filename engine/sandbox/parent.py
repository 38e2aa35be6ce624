"""The parent's side: speak with the child, end it, and say in one sentence what became of it."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import engine.errors
from engine.errors import Contained, WhetstoneError
from engine.sandbox.child import OUT_OF_MEMORY
from engine.sandbox.start import DEFAULT_LIMITS, Limits, start

MESSAGE_BYTES = 64 << 20  # the longest answer taken from a child
LOG_BYTES = 256 << 10  # what is kept of its output
GRACE_S = 5.0  # how long a conversation may take to end by itself


class Child:
    """A confined child that is alive. `held` names the limits that it put on itself."""

    def __init__(
        self,
        target: str,
        request: dict[str, Any],
        *,
        read: Sequence[Path] = (),
        write: Path | None = None,
        limits: Limits = DEFAULT_LIMITS,
        threads: int = 1,
        cores: Sequence[int] | None = None,
        on_message: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        self._limits, self._on_message = limits, on_message
        self._deadline = time.monotonic() + limits.wall_s
        self._it, first = start(target, request, read=read, write=write, limits=limits, threads=threads, cores=cores)
        self._to_send, self._received, self._searched, self._logged = bytearray(first), bytearray(), 0, bytearray()
        self._ended: WhetstoneError | None = None
        self._stopped = False
        self.held: dict[str, bool] = {}
        self.pid = self._it.process.pid

    def log(self) -> str:
        """The end of what the child wrote to its output and error streams."""
        if not self._stopped:
            self._drain()
        return self._logged.decode("utf-8", "replace")

    def ask(self, message: dict[str, Any], timeout_s: float | None = None) -> dict[str, Any]:
        """Send one question and wait for its reply. Raises what the child raised, or Contained."""
        self._to_send += json.dumps(message).encode() + b"\n"
        reply: dict[str, Any] = self._await("reply", timeout_s)
        return reply

    def result(self, timeout_s: float | None = None) -> dict[str, Any]:
        """Wait for what the function returns. Raises what the child raised, or Contained."""
        result: dict[str, Any] = self._await("result", timeout_s)
        return result

    def finish(self) -> None:
        """Say that no question follows, and give the function a moment to end."""
        if not self._stopped:
            self._it.close_to_child()
        with contextlib.suppress(WhetstoneError):
            self.result(GRACE_S)

    def stop(self) -> None:
        """Kill the child and everything it started, and clear up. May be called twice."""
        if not self._stopped:
            self._it.kill()
            self._drain()
            self._stopped = True
            self._it.close()

    # ------------------------------------------------------------ pipes
    def _await(self, wanted: str, timeout_s: float | None) -> Any:
        """The next frame of this kind. Whatever else comes of it ends the child, and is said again if asked again."""
        if self._ended:
            raise self._ended
        try:
            return self._wait(wanted, timeout_s)
        except WhetstoneError as error:
            self._ended = error
            self.stop()
            raise

    def _wait(self, wanted: str, timeout_s: float | None) -> Any:
        started = time.monotonic()
        until = self._deadline if timeout_s is None else min(self._deadline, started + timeout_s)
        while True:
            while (frame := self._next_frame()) is not None:
                kind, value = frame
                if kind == wanted and isinstance(value, dict):
                    return value
                self._handle(kind, value)
            if self._it.process.poll() is not None and not self._drain():
                raise self._death()
            if (left := until - time.monotonic()) <= 0:
                limit_s = self._limits.wall_s if timeout_s is None else timeout_s
                raise Contained(f"stopped: the time limit of {limit_s:.4g} s was reached", "timeout")
            self._pump(min(left, 0.1))

    def _pump(self, wait_s: float) -> None:
        """Move bytes in every direction that is ready, so that nobody waits for a full pipe."""
        it = self._it
        with selectors.DefaultSelector() as selector:
            selector.register(it.from_child, selectors.EVENT_READ)
            selector.register(it.log, selectors.EVENT_READ)
            if self._to_send and it.to_child >= 0:
                selector.register(it.to_child, selectors.EVENT_WRITE)
            ready = {key.fd for key, _ in selector.select(wait_s)}
        if it.to_child in ready:
            try:
                del self._to_send[: os.write(it.to_child, self._to_send[: 1 << 20])]
            except BrokenPipeError:
                it.close_to_child()
        elif not self._drain() and ready:
            time.sleep(min(wait_s, 0.01))  # the streams are closed; its end will be seen in a moment

    def _drain(self) -> bool:
        """Take what lies in the pipes, a megabyte at most; False when there was nothing."""
        taken = 0
        for fd, buffer in ((self._it.from_child, self._received), (self._it.log, self._logged)):
            with contextlib.suppress(BlockingIOError):
                chunk = os.read(fd, 1 << 20)
                buffer.extend(chunk)
                taken += len(chunk)
        del self._logged[:-LOG_BYTES]
        return taken > 0

    def _next_frame(self) -> tuple[str, Any] | None:
        end = self._received.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._received)
            if self._searched > MESSAGE_BYTES:
                raise Contained(f"stopped: an answer was longer than {MESSAGE_BYTES >> 20} MiB", "memory")
            return None
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        self._searched = 0
        try:
            ((kind, value),) = json.loads(line).items()
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise Contained("stopped: the confined process answered with something that is no answer") from None
        return kind, value

    def _handle(self, kind: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise Contained("stopped: the confined process answered with something that is no answer")
        if kind == "error":
            raise self._error(value)
        if kind == "held" and not self.held:
            self.held = value
        elif kind == "message" and self._on_message:
            self._on_message(value)
        elif kind == "result":
            raise Contained("the confined process ended before it had answered")

    # ------------------------------------------------------------ what became of it
    def _error(self, value: dict[str, Any]) -> WhetstoneError:
        kind = getattr(engine.errors, str(value.get("class")), Contained)
        message, reason = str(value.get("message"))[:4000], value.get("reason")
        if kind is not Contained:
            error: WhetstoneError = kind(message)
            return error
        return self._memory() if reason == "memory" else Contained(message, str(reason or "exit"))

    def _memory(self) -> Contained:
        limit = self._limits.memory_bytes / (1 << 30)
        return Contained(f"stopped: it asked for more memory than the limit of {limit:.3g} GiB", "memory")

    def _death(self) -> Contained:
        code = self._it.process.returncode
        if code >= 0:
            return Contained(f"the confined process ended without an answer (exit status {code})", "exit")
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        if name == "SIGXCPU":
            return Contained(f"stopped: it used more than {self._limits.cpu_s} s of processor time", "timeout")
        if name == "SIGKILL":
            return Contained("killed by the operating system (SIGKILL), most likely for lack of memory", "memory")
        if OUT_OF_MEMORY.search(self._logged[-8192:].decode("utf-8", "replace")):
            return self._memory()
        return Contained(f"native code crashed ({name}): the file is damaged, or made to do this", "signal")


@contextlib.contextmanager
def conversation(
    target: str,
    request: dict[str, Any],
    *,
    read: Sequence[Path] = (),
    write: Path | None = None,
    limits: Limits = DEFAULT_LIMITS,
    threads: int = 1,
    cores: Sequence[int] | None = None,
    on_message: Callable[[dict[str, Any]], None] | None = None,
) -> Iterator[Child]:
    """Keep one confined child and ask it again and again with `Child.ask`. It ends with the block.

    read: files and folders it may read; write: the one folder it may write; cores: pin it to these; on_message: what it
    sends on the way. limits.wall_s bounds its whole life. The thread that enters must outlive the block.
    """
    child = Child(
        target, request, read=read, write=write, limits=limits, threads=threads, cores=cores, on_message=on_message
    )
    try:
        yield child
        child.finish()
    finally:
        child.stop()


def run(
    target: str,
    request: dict[str, Any],
    *,
    read: Sequence[Path] = (),
    write: Path | None = None,
    limits: Limits = DEFAULT_LIMITS,
    threads: int = 1,
    cores: Sequence[int] | None = None,
    on_message: Callable[[dict[str, Any]], None] | None = None,
    log: TextIO | None = None,
) -> dict[str, Any]:
    """What the function "module.path:function" returns for `request`, computed in a limited child.

    A WhetstoneError raised there is raised here again. Contained: memory, time, a crash, or any other exception.
    log: where the end of what the child printed is written, however it ended.
    """
    child = Child(
        target, request, read=read, write=write, limits=limits, threads=threads, cores=cores, on_message=on_message
    )
    try:
        return child.result()
    finally:
        child.stop()
        if log is not None and (printed := child.log()):
            print(printed.rstrip("\n"), file=log, flush=True)
