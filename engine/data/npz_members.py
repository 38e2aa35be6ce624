"""Check the members of an NPZ archive against what they claim, before any of them is read."""

from __future__ import annotations

import errno
import io
import math
import tokenize
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

import numpy as np

from engine.data.limits import MAX_BYTES, MAX_CELL_BYTES, check_columns, names_text, size_text
from engine.errors import BadData

HEADER_BYTES = 64 << 10
BOMB_BYTES, BOMB_RATIO = 256 << 20, 500


@contextmanager
def refusing_damage(what: str) -> Iterator[None]:
    """Turn what zipfile says of a damaged archive into BadData. Errors of the disk pass."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OverflowError) as error:
        raise BadData(f"{what} is damaged: {error}") from error
    except OSError as error:  # a place before the start of the file, from offsets that lie
        if error.errno != errno.EINVAL:
            raise
        raise BadData(f"{what} is damaged: a member lies outside the file") from error


@dataclass(frozen=True)
class Member:
    """One checked array of an archive."""

    name: str
    info: zipfile.ZipInfo
    dtype: np.dtype
    shape: tuple[int, ...]
    fortran: bool
    header_bytes: int

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return self.dtype.itemsize * math.prod(self.shape[1:])


def checked_members(archive: zipfile.ZipFile, notes: list[str]) -> list[Member]:
    """The arrays that have rows, in the order of the archive. Raises BadData; single values are noted and left out."""
    infos = [info for info in archive.infolist() if not info.is_dir()]
    check_columns([info.filename.removesuffix(".npy") for info in infos])
    strange = [info.filename for info in infos if not info.filename.endswith(".npy")]
    if strange:
        raise BadData(f"the archive holds more than arrays: {names_text(strange)}; write it again with np.savez")
    members = [_member(archive, info) for info in infos]
    single = [member.name for member in members if not member.shape]
    if single:
        notes.append(f"Single values ignored: {names_text(single)}")
    return [member for member in members if member.shape]


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    name = info.filename.removesuffix(".npy")
    if info.flag_bits & 1:
        raise BadData(f"array {name!r} is encrypted; write the archive without a password")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BadData(f"array {name!r} is packed in an unusual way; write it with np.savez or np.savez_compressed")
    if info.file_size > MAX_BYTES:
        raise BadData(f"array {name!r} claims {size_text(info.file_size)}; at most {size_text(MAX_BYTES)} are read")
    if info.file_size > BOMB_BYTES and info.file_size > BOMB_RATIO * max(info.compress_size, 1):
        raise BadData(
            f"array {name!r} is {size_text(info.compress_size)} packed and {size_text(info.file_size)} unpacked; "
            f"at most {BOMB_RATIO} times the packed size is read. If it is meant so, save it unpacked: np.savez"
        )
    with refusing_damage(f"array {name!r}"), archive.open(info) as file:
        dtype, shape, fortran, header_bytes = _header(name, file)
    claimed = header_bytes + dtype.itemsize * math.prod(shape)
    if claimed != info.file_size:
        raise BadData(
            f"array {name!r} claims the shape {shape} of {dtype}, {size_text(claimed)}, "
            f"but {size_text(info.file_size)} are there; the file is cut off or damaged"
        )
    return Member(name, info, dtype, shape, fortran, header_bytes)


def _header(name: str, file: IO[bytes]) -> tuple[np.dtype, tuple[int, ...], bool, int]:
    """Dtype, shape, column-major?, length of the header. Reads no more than 64 KiB and opens no pickle."""
    raw = io.BytesIO(file.read(HEADER_BYTES))
    try:
        version = np.lib.format.read_magic(raw)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = read(raw)
    except (ValueError, KeyError, TypeError, SyntaxError, RecursionError, tokenize.TokenError) as error:
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise BadData(f"array {name!r} has no readable header ({reason}); write it again with np.savez") from error
    if dtype.hasobject:
        raise BadData(
            f"array {name!r} holds Python objects (a pickle inside), which are never opened; "
            f"save {name} as fixed-width text or numbers: {name}.astype(str)"
        )
    if dtype.kind not in "biufUSMm" or dtype.itemsize == 0 or any(size < 0 for size in shape) or 0 in shape[1:]:
        raise BadData(f"array {name!r} has type {dtype} and shape {shape}; numbers, true/false and text can be read")
    if dtype.itemsize > MAX_CELL_BYTES:
        raise BadData(
            f"array {name!r} has cells of {size_text(dtype.itemsize)}; at most {size_text(MAX_CELL_BYTES)} are read"
        )
    return dtype, tuple(int(size) for size in shape), bool(fortran), raw.tell()


def common_length(members: list[Member]) -> int:
    """The number of rows that all arrays share. Raises BadData."""
    if not members:
        raise BadData("the archive holds no array with rows; save inputs and label: np.savez('eval.npz', x=x, label=y)")
    lengths = Counter(member.shape[0] for member in members)
    if len(lengths) > 1:
        listing = names_text([f"{member.name} {member.shape[0]:,}" for member in members])
        raise BadData(
            f"the arrays have different numbers of rows ({listing}); each needs one row per example, "
            "leave out what is no column"
        )
    n_rows = members[0].shape[0]
    if not n_rows:
        raise BadData(f"the arrays ({names_text([member.name for member in members])}) have no rows")
    return n_rows
