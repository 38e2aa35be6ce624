"""Which runner may serve what, and who it is: the names behind the locks and the rows of the queue."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from engine.jobs.locks import lock_folder
from storage.database import identity
from storage.ledger import Ledger

_ROOT = Path(__file__).parents[2]


def _digest(*parts: str | bytes) -> str:
    joined = b"\0".join(part.encode() if isinstance(part, str) else part for part in parts)
    return hashlib.sha256(joined).hexdigest()[:32]


def _code() -> str:
    files = [*(_ROOT / "engine" / "jobs").glob("*.py"), *(_ROOT / "storage").rglob("*.py")]
    files += [*(_ROOT / "engine" / "records").glob("*.py"), _ROOT / "engine" / "errors.py"]
    return _digest(*(path.read_bytes() for path in sorted(files)))


CODE_VERSION = _code()  # of what a runner runs itself; taken when it is imported, not when somebody asks


def database_key(ledger: Ledger) -> str:
    """Names the database and the workspace, however the URL is spelled: one runner serves the two together."""
    return _digest(identity(ledger.engine), ledger.workspace)


def owner(ledger: Ledger) -> str:
    """Names who a runner runs for. Two runners with the same owner cannot be alive at once: they share a lock file.

    A host name is not enough: two hosts may have the same. Machine id and boot id name the running system, the
    process namespace the container on it; user and lock folder tell whose lock file it is.
    """
    folder = lock_folder().stat()
    return _digest(
        _line("/etc/machine-id"),
        _line("/proc/sys/kernel/random/boot_id"),
        str(Path("/proc/self/ns/pid").stat().st_ino) if Path("/proc/self/ns/pid").exists() else "",
        f"{os.getuid()} {folder.st_dev} {folder.st_ino}",
        database_key(ledger),
    )


def _line(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
