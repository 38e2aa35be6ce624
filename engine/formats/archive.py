"""Zip archives of unknown origin: listed and read under limits, never extracted by name."""

from __future__ import annotations

import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import BadModel

MAX_MEMBERS = 20_000
MAX_BYTES = 16 << 30
MAX_RATIO = 100  # trained numbers hardly shrink; zeros shrink a thousand times
RATIO_FREE_BYTES = 16 << 20
_PART = r"[\w.@+=()\[\]{},;!#$%&'~^ -]{1,200}"
PLAIN_NAME = re.compile(rf"(?!.*\.\.){_PART}(/{_PART}){{0,8}}")
_CHUNK = 1 << 20
_UNREADABLE = (zipfile.BadZipFile, EOFError, OSError, RuntimeError, ValueError, NotImplementedError, zlib.error)


def is_zip(head: bytes) -> bool:
    """Does the file begin like a zip archive?"""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


class Archive:
    """An open archive whose directory was found harmless."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._infos = {info.filename: info for info in file.infolist() if not info.is_dir()}

    @property
    def names(self) -> list[str]:
        """Names of the members, folders left out."""
        return list(self._infos)

    def below_root(self) -> tuple[str, set[str]] | None:
        """The one root folder, with its slash, and the names below it; None where there are several."""
        roots = {name.partition("/")[0] for name in self.names}
        if len(roots) != 1:
            return None
        root = f"{roots.pop()}/"
        return root, {name.removeprefix(root) for name in self.names}

    def size(self, name: str) -> int:
        """Bytes of one member once read."""
        return self._infos[name].file_size

    def is_stored(self, name: str) -> bool:
        """True for a member that is not compressed."""
        info = self._infos[name]
        return info.compress_type == zipfile.ZIP_STORED and info.file_size == info.compress_size

    def read(self, name: str, at_most: int) -> bytes:
        """The whole of one member. Raises BadModel when it is larger than `at_most` or damaged."""
        if self.size(name) > at_most:
            raise BadModel(f"member {name[:80]!r} has {self.size(name):,} bytes, allowed are {at_most:,}")
        return b"".join(self.chunks(name))

    def chunks(self, name: str) -> Iterator[bytes]:
        """One member in pieces of a megabyte, never more than its stated size. Raises BadModel when it is damaged."""
        left = self.size(name)
        try:
            with self._file.open(self._infos[name]) as member:
                while left and (piece := member.read(min(left, _CHUNK))):
                    left -= len(piece)
                    yield piece
        except _UNREADABLE as error:
            raise BadModel(_cut(f"member {name[:80]!r}: {error}")) from error
        if left:
            raise BadModel(_cut(f"member {name[:80]!r} ends {left:,} bytes early"))


def _cut(detail: str) -> str:
    return f"the zip archive is damaged or cut off ({detail[:200]}); save or upload it again"


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """The archive at `path`. Raises BadModel for odd names, links, repeats, encryption, bombs and damage."""
    try:
        file = zipfile.ZipFile(path)
    except _UNREADABLE as error:
        raise BadModel(_cut(str(error))) from error
    with file:
        _check(file.infolist())
        yield Archive(file)


def _check(infos: list[zipfile.ZipInfo]) -> None:
    if not 0 < len(infos) <= MAX_MEMBERS:
        raise BadModel(f"the zip archive has {len(infos):,} members, allowed are 1 to {MAX_MEMBERS:,}")
    if (total := sum(info.file_size for info in infos)) > MAX_BYTES:
        raise BadModel(f"the zip archive unpacks to {total:,} bytes, allowed are {MAX_BYTES:,}")
    seen: set[str] = set()
    for info in infos:
        name = info.filename
        if not PLAIN_NAME.fullmatch(name.removesuffix("/")) or name in seen:
            what = "occurs twice" if name in seen else "is not a plain name inside the archive"
            raise BadModel(f"refused: the member name {name[:80]!r} {what}; pack the archive again")
        seen.add(name)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise BadModel(f"refused: the member {name[:80]!r} is a link or device; pack the file itself")
        if info.flag_bits & 1:
            raise BadModel(f"refused: the member {name[:80]!r} is encrypted; pack it without a password")
        if info.file_size > RATIO_FREE_BYTES and info.file_size > MAX_RATIO * max(info.compress_size, 1):
            raise BadModel(
                f"refused: the member {name[:80]!r} unpacks {info.compress_size:,} bytes to {info.file_size:,}; "
                f"allowed is a factor of {MAX_RATIO}"
            )
