"""Which limits really hold on this machine: tried in a confined child, not read from settings."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from engine.sandbox.parent import Child
from engine.sandbox.start import Limits
from engine.sandbox.talk import Talk

_LIMITS = Limits(memory_bytes=512 << 20, cpu_s=20, wall_s=30, file_bytes=1 << 20, n_processes=8)


def _refused(attempt: Any) -> bool:
    try:
        attempt()
    except (OSError, MemoryError):
        return True
    return False


def _connect(port: int) -> None:
    socket.create_connection(("127.0.0.1", port), timeout=2).close()


def _leave_group() -> None:
    pid = os.fork()
    if not pid:
        os._exit(1 if _refused(os.setsid) else 0)
    if os.waitpid(pid, 0)[1]:
        raise PermissionError


def _many_processes() -> None:
    hold, release = os.pipe()
    children = []
    try:
        for _ in range(2 * _LIMITS.n_processes + 8):
            if not (pid := os.fork()):
                os.close(release)
                os.read(hold, 1)
                os._exit(0)
            children.append(pid)
    finally:
        os.close(release)
        for pid in children:
            os.waitpid(pid, 0)


def measure(request: dict[str, Any], talk: Talk) -> dict[str, bool]:
    """In the child: try what must fail."""
    secret, folder = Path(request["secret"]), Path(request["folder"])
    return {
        "no foreign file is read": _refused(secret.read_bytes),
        "no foreign file is written": _refused(lambda: secret.with_name("new").write_bytes(b"")),
        "no network": _refused(lambda: _connect(request["port"])),
        "memory limit": _refused(lambda: bytearray(_LIMITS.memory_bytes + 1)),
        "file size limit": _refused(lambda: (folder / "big").write_bytes(bytes(_LIMITS.file_bytes + 1))),
        "processor time limit": resource.getrlimit(resource.RLIMIT_CPU)[0] == _LIMITS.cpu_s,
        "process limit": _refused(_many_processes),
        "stays in its process group": _refused(_leave_group),
    }


@cache
def held() -> dict[str, bool]:
    """Which limits hold on this machine, by name: what was tried in a child, and which of its own measures it took."""
    with contextlib.ExitStack() as stack:
        secret = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "secret"
        secret.write_bytes(b"secret")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        request = {"secret": str(secret), "folder": str(folder), "port": server.getsockname()[1]}
        child = Child("engine.sandbox.probe:measure", request, write=folder, limits=_LIMITS)
        try:
            tried = child.result()
            return {**child.held, **tried}
        finally:
            child.stop()
