"""Files on their way in: small ones from the browser, big ones streamed by PUT, or picked from the import folder.

A streamed upload has a ticket, a folder `uploads/<digest of its token>/` whose files tell its state:
`open` (nothing came yet) → `part` (arriving) → `file` (whole) or `failed` (a sentence). The token is never stored.
"""

from __future__ import annotations

import errno
import hashlib
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from engine.errors import Conflict, NoSpace, NotFound, WhetstoneError

CHUNK_BYTES = 1 << 20
TICKET_LIFE_S = 3600
FILE_LIFE_S = 24 * 3600
WIDGET_LIMIT_MB = 200


@dataclass(frozen=True)
class Arrival:
    """What a page shows of a streamed upload."""

    stage: Literal["unknown", "waiting", "arriving", "whole", "failed"]
    n_bytes: int = 0
    name: str = ""
    message: str = ""
    path: Path | None = None


# ---------------------------------------------------------------- streamed uploads
def issue(home: Path) -> str:
    """A new one-time token."""
    token = secrets.token_urlsafe(24)
    folder = ticket_folder(home, token)
    folder.mkdir(parents=True)
    (folder / "open").touch()
    return token


def ticket_folder(home: Path, token: str) -> Path:
    """Where the upload of this token lies."""
    return home / "uploads" / hashlib.sha256(token.encode()).hexdigest()[:32]


@contextmanager
def taking(home: Path, token: str, name: str) -> Iterator[Path]:
    """Use the token up and yield the folder to write `part` in; at the end it became `file`, or nothing stays.

    Raises NotFound (unknown or too old) or Conflict (used).
    """
    folder = ticket_folder(home, token)
    if not token or not folder.is_dir():
        raise NotFound("this upload token is not known; open New study and copy the command again")
    try:
        age_s = time.time() - (folder / "open").stat().st_mtime
        (folder / "open").rename(folder / "part")
    except FileNotFoundError as error:
        raise Conflict("this upload token was used already; open New study for a new one") from error
    reason = "the upload broke off before the whole file had arrived; send it again"
    try:
        if age_s > TICKET_LIFE_S:
            raise NotFound("this upload token is older than an hour; open New study for a new one")
        (folder / "name").write_text(display_name(name))
        yield folder
        (folder / "part").rename(folder / "file")
    except WhetstoneError as error:
        reason = str(error)
        raise
    finally:
        if not (folder / "file").exists():
            (folder / "part").unlink(missing_ok=True)
            (folder / "failed").write_text(reason)


def arrival(home: Path, token: str) -> Arrival:
    """Where the upload of this token stands."""
    folder = ticket_folder(home, token)
    name = (folder / "name").read_text() if (folder / "name").exists() else ""
    if (folder / "file").exists():
        return Arrival("whole", (folder / "file").stat().st_size, name, path=folder / "file")
    if (folder / "failed").exists():
        return Arrival("failed", name=name, message=(folder / "failed").read_text())
    try:
        return Arrival("arriving", (folder / "part").stat().st_size, name)
    except FileNotFoundError:
        return Arrival("waiting" if (folder / "open").exists() else "unknown")


def discard(home: Path, token: str) -> None:
    """Forget an upload and its file."""
    shutil.rmtree(ticket_folder(home, token), ignore_errors=True)


def used_bytes(home: Path) -> int:
    """Bytes that streamed uploads take together."""
    return sum(path.stat().st_size for path in (home / "uploads").glob("*/*") if path.is_file())


def sweep(home: Path) -> None:
    """Remove uploads that nobody took within a day."""
    for folder in (home / "uploads").glob("*"):
        if time.time() - folder.stat().st_mtime > FILE_LIFE_S:
            shutil.rmtree(folder, ignore_errors=True)


# ---------------------------------------------------------------- from the browser's file picker
def keep(upload: BinaryIO, name: str, home: Path) -> Path:
    """Copy the uploaded bytes into a folder of their own, in chunks; returns the file. Raises NoSpace."""
    folder = ticket_folder(home, secrets.token_urlsafe(24))
    folder.mkdir(parents=True)
    upload.seek(0)
    try:
        (folder / "name").write_text(display_name(name))
        with (folder / "part").open("wb") as file:
            shutil.copyfileobj(upload, file, CHUNK_BYTES)
        return (folder / "part").rename(folder / "file")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoSpace("the server's disk is full; nothing of this file was kept") from error
        raise


def forget(path: Path, home: Path) -> None:
    """Remove a kept or streamed file; a file of the import folder is left alone."""
    if path.is_relative_to(home / "uploads"):
        shutil.rmtree(path.parent, ignore_errors=True)


# ---------------------------------------------------------------- from the import folder
def import_files(folder: Path | None) -> list[Path]:
    """Files lying directly in the import folder; links that lead out of it are not listed."""
    if folder is None or not folder.is_dir():
        return []
    inside = (path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith("."))
    return [path for path in inside if path.resolve().parent == folder.resolve()]


def import_file(folder: Path | None, name: str) -> Path:
    """The listed file of this name. Raises NotFound for anything else."""
    for path in import_files(folder):
        if path.name == name:
            return path.resolve()
    raise NotFound(f"the import folder holds no file named {display_name(name)!r}")


def display_name(name: str) -> str:
    """The last part of a name, printable, at most 120 characters: data to show, never a path."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(letter for letter in last if letter.isprintable())[:120] or "unnamed"
