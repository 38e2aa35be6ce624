"""How a child is started: what it may use, what it is told, what of the parent's environment it keeps."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_BOOT = (
    "import sys; sys.path[:] = sys.argv[4].split(':'); from engine.sandbox.child import main; "
    "main(*map(int, sys.argv[1:4]))"
)
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "ARROW_NUM_THREADS")
_KEPT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZ")
_SERIAL = {"JOBLIB_MULTIPROCESSING": "0"}  # scikit-learn's workers are refused anyway; this way nobody is warned of it


@dataclass(frozen=True)
class Limits:
    """What one child may use.

    memory_bytes: what one process may fill; cpu_s: what all its threads use together; wall_s: its whole life;
    file_bytes: the largest file; n_processes: besides four threads of libraries for each thread it is given.
    """

    memory_bytes: int = 4 << 30
    cpu_s: int = 600
    wall_s: float = 900
    file_bytes: int = 8 << 30
    n_processes: int = 64


DEFAULT_LIMITS = Limits()


@dataclass
class Started:
    """A child's process, the parent's ends of its pipes, and its private folder."""

    process: subprocess.Popen[bytes]
    to_child: int
    from_child: int
    log: int
    life: int  # closed when the parent ends, however it ends; the child's watcher waits for that
    home: Path

    def close_to_child(self) -> None:
        """The child reads the end of the questions."""
        if self.to_child >= 0:
            os.close(self.to_child)
            self.to_child = -1

    def kill(self) -> None:
        """End the child and everything it started."""
        # The number is still this group's, even if the child has been reaped: its watcher stays in the group.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """Close the pipes and remove the private folder."""
        self.close_to_child()
        for fd in (self.from_child, self.log, self.life):
            os.close(fd)
        shutil.rmtree(self.home, ignore_errors=True)


def _prefixes() -> list[str]:
    return list(dict.fromkeys((sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)))


def _library_paths() -> list[str]:
    """The parent's import path without anybody's project or home folder."""
    prefixes = [Path(prefix).resolve() for prefix in _prefixes()]
    kept = []
    for entry in dict.fromkeys(sys.path):
        path = Path(entry)
        inside = any(path.resolve().is_relative_to(prefix) for prefix in prefixes)
        if path.is_absolute() and path.exists() and (inside or {"site-packages", "dist-packages"} & set(path.parts)):
            kept.append(entry)
    return kept


def _environment(home: Path, threads: int) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    private = {"HOME": str(home), "TMPDIR": str(home), "USER": "whetstone", "LOGNAME": "whetstone", "LC_ALL": "C.UTF-8"}
    return kept | private | _SERIAL | dict.fromkeys(_THREADS, str(threads))


def _real(paths: Sequence[Path | str]) -> list[str]:
    return [str(Path(path).resolve(strict=True)) for path in paths]


def start(
    target: str,
    request: dict[str, Any],
    *,
    read: Sequence[Path],
    write: Path | None,
    limits: Limits,
    threads: int,
    cores: Sequence[int] | None,
) -> tuple[Started, bytes]:
    """A fresh interpreter in its own session, and the first line it waits for. FileNotFoundError: a path is missing."""
    libraries = _library_paths()
    top = target.partition(":")[0].partition(".")[0]
    readable = _real(read)
    home = Path(tempfile.mkdtemp(prefix="whetstone-child-")).resolve()
    settings = {
        "target": target,
        "request": request,
        "parent": os.getpid(),
        "limits": asdict(limits),
        "threads": threads,
        "cores": None if cores is None else list(cores),
        "code": _real([*_prefixes(), *libraries, ROOT / "engine", ROOT / top]),
        "read": readable,
        "write": _real([home, *([write] if write else [])]),
    }
    pipes = [os.pipe() for _ in range(4)]
    (child_in, to_child), (from_child, child_out), (log, child_log), (child_life, life) = pipes
    command = [sys.executable, "-I", "-B", "-X", "faulthandler", "-c", _BOOT]
    command += [str(child_in), str(child_out), str(child_life), ":".join([*libraries, str(ROOT)])]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=child_log,
            stderr=child_log,
            cwd=home,
            env=_environment(home, threads),
            pass_fds=(child_in, child_out, child_life),
            start_new_session=True,
        )
    finally:
        for fd in (child_in, child_out, child_log, child_life):
            os.close(fd)
    for fd in (to_child, from_child, log):
        os.set_blocking(fd, False)
    return Started(process, to_child, from_child, log, life, home), json.dumps(settings).encode() + b"\n"
