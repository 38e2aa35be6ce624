"""Content-addressed files below one home folder: written aside, flushed, renamed, never changed afterwards.

```
artefacts/<id>/            the payload files of one model
manifests/<key>.json       what is known about a payload, by upload or by step key
evalsets/<id>/             an evaluation set bound to a model, one folder per split
tables/<id>/               an uploaded data file, read once
samples/<id>.arrow         raw timing samples
curves/<study>-<over>.json quality by number of trees or features
```
An id is the SHA-256 of the canonical listing (sorted name, size, SHA-256 of each file). Two builders racing end with
the same folder: "already there" is success.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import NoSpace, NotFound
from engine.plugin import Artefact
from engine.records import FileRef, Manifest

CHUNK_BYTES = 1 << 20
DRAFT_LIFE_S = 24 * 3600


class Workspace:
    """The files below `root`. Holds no open resource."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("artefacts", "manifests", "evalsets", "tables", "samples", "curves", "tmp"):
            (root / name).mkdir(parents=True, exist_ok=True)

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """A private empty folder, removed at the end whatever happens. A full disk becomes NoSpace."""
        folder = Path(tempfile.mkdtemp(prefix="draft-", dir=self.root / "tmp"))
        try:
            yield folder
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise NoSpace(f"the disk that holds {self.root} is full; free some space and try again") from error
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    # ------------------------------------------------------------ folders by content
    def add_artefact(self, draft: Path) -> str:
        """Move the payload files of `draft` into place; return their id."""
        return self._add_folder("artefacts", draft)

    def add_evalset(self, draft: Path) -> str:
        """Move a bound evaluation set into place; return its id."""
        return self._add_folder("evalsets", draft)

    def add_table(self, draft: Path) -> str:
        """Move a table that was read once into place; return its id."""
        return self._add_folder("tables", draft)

    def artefact(self, manifest: Manifest) -> Artefact:
        """The manifest with its folder. Raises NotFound."""
        return Artefact(manifest, self.artefact_folder(manifest.id))

    def artefact_folder(self, artefact_id: str) -> Path:
        """Folder of the payload files. Raises NotFound."""
        return self._folder("artefacts", artefact_id, "model")

    def evalset_folder(self, eval_set_id: str) -> Path:
        """Folder of a bound evaluation set. Raises NotFound."""
        return self._folder("evalsets", eval_set_id, "evaluation set")

    def table_folder(self, table_id: str) -> Path:
        """Folder of a table that was read once. Raises NotFound."""
        return self._folder("tables", table_id, "data file")

    # ------------------------------------------------------------ manifests
    def save_manifest(self, key: str, manifest: Manifest) -> None:
        """Store what is known of a payload under a step key or `upload-<id>`."""
        self.write_text(self.root / "manifests" / f"{key}.json", manifest.model_dump_json(indent=1))

    def load_manifest(self, key: str) -> Manifest | None:
        """The manifest of a key, or None when the key is new or its payload was removed."""
        path = self.root / "manifests" / f"{key}.json"
        if not path.exists():
            return None
        manifest = Manifest.model_validate_json(path.read_text())
        return manifest if (self.root / "artefacts" / manifest.id).is_dir() else None

    # ------------------------------------------------------------ single files
    def add_sample(self, draft_file: Path) -> FileRef:
        """Move a file of raw samples into place, by content."""
        digest = file_digest(draft_file)
        target = self.root / "samples" / f"{digest}{draft_file.suffix}"
        size = draft_file.stat().st_size
        _sync(draft_file)
        draft_file.replace(target)
        _sync(target.parent)
        return FileRef(path=str(target.relative_to(self.root)), sha256=digest, size_bytes=size)

    def write_text(self, target: Path, text: str) -> None:
        """Replace a small file in one step."""
        with self.draft() as folder:
            part = folder / "part"
            part.write_text(text)
            _sync(part)
            part.replace(target)

    def sweep(self) -> None:
        """Remove drafts that a killed process left behind more than a day ago."""
        for path in (self.root / "tmp").iterdir():
            if time.time() - path.stat().st_mtime > DRAFT_LIFE_S:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

    # ------------------------------------------------------------ inside
    def _folder(self, kind: str, digest: str, noun: str) -> Path:
        path = self.root / kind / digest
        if not digest.isalnum() or not path.is_dir():
            raise NotFound(f"no {noun} {digest[:12]!r} is stored here")
        return path

    def _add_folder(self, kind: str, draft: Path) -> str:
        files = sorted(path for path in draft.rglob("*") if path.is_file())
        digest = listing_digest(draft)
        target = self.root / kind / digest
        if target.is_dir():
            return digest
        for path in files:
            _sync(path)
            path.chmod(0o444)
        with self.draft() as aside:  # the caller keeps its own (emptied) draft
            whole = aside / "whole"
            whole.mkdir()
            for path in files:
                inside = whole / path.relative_to(draft)
                inside.parent.mkdir(parents=True, exist_ok=True)
                path.replace(inside)
            try:
                whole.rename(target)
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                    raise
        _sync(target.parent)
        return digest


def file_digest(path: Path) -> str:
    """SHA-256 of a file, streamed; 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def listing_digest(folder: Path) -> str:
    """SHA-256 of the canonical listing of a folder's files: sorted name, size, SHA-256 per line."""
    lines = [
        f"{path.relative_to(folder).as_posix()}\t{path.stat().st_size}\t{file_digest(path)}\n"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def folder_bytes(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
