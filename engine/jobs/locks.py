"""Locks of this machine: who may load it while somebody measures. Held as flocks, so the kernel frees them on death.

Work that only computes (build, score) shares the machine; timing has it alone. Whoever waits to be alone holds a gate
that newcomers must pass, or a stream of shared work would keep it waiting for ever (seen: 5.8 s of 6).
The folder is the same for every home and database of one user; two users of one machine do not see each other.
"""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

from engine.errors import HistoryUnavailable

EXCLUSIVE = frozenset({"time"})


def lock_folder() -> Path:
    """The folder of this user's machine-wide locks (WHETSTONE_LOCK_DIR moves it). Raises HistoryUnavailable.

    /tmp by name: TMPDIR and XDG_RUNTIME_DIR differ between sessions of one user.
    """
    folder = Path(os.environ.get("WHETSTONE_LOCK_DIR") or f"/tmp/whetstone-{os.getuid()}")  # noqa: S108
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise HistoryUnavailable(
            f"{folder} must be a folder that only you can write: the machine's locks lie there; remove it or set "
            "WHETSTONE_LOCK_DIR"
        )
    return folder


class FileLock:
    """An exclusive or shared flock on one file. `fd` may be handed to a child, which then holds the lock as well."""

    def __init__(self, path: Path, fd: int | None = None) -> None:
        self.path = path
        self.fd = fd

    @property
    def held(self) -> bool:
        """True while this object holds the lock."""
        return self.fd is not None

    def try_acquire(self, *, shared: bool = False) -> bool:
        """Take the lock if it is free now; True when held."""
        if self.fd is not None:
            return True
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        if not self.path.exists() or self.path.stat().st_ino != os.fstat(fd).st_ino:
            os.close(fd)  # somebody tidied the file away in this moment
            return False
        os.utime(fd)  # sweepers of /tmp take what looks old
        self.fd = fd
        return True

    def release(self) -> None:
        """Give the lock back. A child that inherited `fd` keeps it."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None


class PhaseLocks:
    """The machine as one attempt sees it."""

    def __init__(self, folder: Path) -> None:
        self._gate = FileLock(folder / "gate.lock")
        self._machine = FileLock(folder / "machine.lock")
        self._alone: bool | None = None  # how the machine is held: alone, shared, or not (None)

    def try_acquire(self, phase: str) -> bool:
        """Ask for the machine as `phase` needs it; never blocks. Ask again until True, or `release`.

        Changing from shared to alone and back gives up the old hold first, so two who change cannot block each other.
        """
        alone = phase in EXCLUSIVE
        if self._alone == alone:
            return True
        if self._alone is not None:
            self._machine.release()
            self._alone = None
        granted = self._try_alone() if alone else self._try_shared()
        if granted:
            self._alone = alone
        return granted

    def release(self) -> None:
        """Give everything back, a place in the queue too."""
        self._machine.release()
        self._gate.release()
        self._alone = None

    def _try_alone(self) -> bool:
        if not self._gate.try_acquire():
            return False
        if not self._machine.try_acquire():
            return False  # the gate stays shut behind us
        self._gate.release()
        return True

    def _try_shared(self) -> bool:
        self._gate.release()
        if not self._gate.try_acquire(shared=True):
            return False
        granted = self._machine.try_acquire(shared=True)
        self._gate.release()
        return granted
