"""Read an NPZ archive: 1-D arrays become plain columns, the others stay arrays. No pickle is ever opened."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from engine.data.array_file import ArrayFile, array_profile, array_text
from engine.data.limits import BATCH_BYTES, BATCH_ROWS, Budget, size_text
from engine.data.npz_members import Member, checked_members, common_length, refusing_damage
from engine.data.profile import ColumnKind, ColumnProfile, TableProfile
from engine.data.statistics import PREVIEW_ROWS
from engine.data.table_writer import PlainColumns, preview
from engine.errors import BadData

if TYPE_CHECKING:
    from engine.sandbox import Talk

FORTRAN_BYTES = 1 << 30  # column-major arrays are turned round in memory
_KINDS: dict[str, ColumnKind] = {"b": "true/false", "i": "whole number", "u": "whole number", "f": "number"}


def read_npz(path: Path, out: Path, talk: Talk) -> TableProfile:
    """Store the arrays in `out` and describe them. Raises BadData."""
    notes: list[str] = []
    with zipfile.ZipFile(path) as archive:
        members = checked_members(archive, notes)
        n_rows = common_length(members)
        budget = Budget()
        for member in members:
            budget.take(member.info.file_size)
        plain = [(at, member) for at, member in enumerate(members) if len(member.shape) == 1]
        talk.send({"progress": 0.1, "message": f"{len(members)} arrays"})
        with refusing_damage("the archive"):
            columns, heads = _store_plain(archive, plain, n_rows, out)
            for at, member in enumerate(members):
                if len(member.shape) > 1:
                    columns[at], heads[at] = _store_array(archive, member, at, out)
                    talk.send({"progress": (at + 1) / len(members), "message": f"array {member.name}"})
    return TableProfile(
        format="npz",
        n_rows=n_rows,
        columns=tuple(columns[at] for at in sorted(columns)),
        reading={"format": "npz"},
        notes=tuple(notes),
        head=preview(heads),
    )


def _store_plain(
    archive: zipfile.ZipFile, members: list[tuple[int, Member]], n_rows: int, out: Path
) -> tuple[dict[int, ColumnProfile], dict[int, list[str]]]:
    """All 1-D arrays side by side into table.parquet."""
    plans = [(at, member.name, *_plain_kind(member)) for at, member in members]
    step = _step(sum(member.row_bytes for _, member in members))
    with contextlib.ExitStack() as stack, PlainColumns(out, plans) as store:
        chunks = [stack.enter_context(contextlib.closing(_chunks(archive, member, step))) for _, member in members]
        for _ in range(0, n_rows if members else 0, step):
            store.add([_to_arrow(next(chunk), dtype) for chunk, (_, _, _, dtype) in zip(chunks, plans, strict=True)])
    statistics = store.statistics.items()
    return {at: one.profile() for at, one in statistics}, {at: one.head for at, one in statistics}


def _store_array(archive: zipfile.ZipFile, member: Member, at: int, out: Path) -> tuple[ColumnProfile, list[str]]:
    """One array of two or more axes into arrays/<position>.npy."""
    dtype, head = _native(member.dtype), list[str]()
    with ArrayFile(out / "arrays" / f"{at}.npy", dtype, member.shape[1:]) as file:
        for rows in _chunks(archive, member, _step(member.row_bytes)):
            head += [array_text(row) for row in rows[: max(0, PREVIEW_ROWS - len(head))]]
            file.append(rows)
    return array_profile(at, member.name, dtype, member.shape[1:]), head


def _chunks(archive: zipfile.ZipFile, member: Member, step: int) -> Generator[np.ndarray, None, None]:
    """The rows (m, ...) of an array, `step` at a time, in the dtype that is stored."""
    n_rows, dtype = member.shape[0], _native(member.dtype)
    with archive.open(member.info) as file:
        file.read(member.header_bytes)
        if member.fortran and len(member.shape) > 1:
            yield from _turned(member, file.read(), step)
            return
        for start in range(0, n_rows, step):
            size = min(step, n_rows - start)
            raw = file.read(size * member.row_bytes)
            yield _converted(np.frombuffer(raw, member.dtype).reshape(size, *member.shape[1:]), member.name, dtype)


def _turned(member: Member, raw: bytes, step: int) -> Iterator[np.ndarray]:
    if len(raw) > FORTRAN_BYTES:
        raise BadData(
            f"array {member.name!r} is stored column by column ({size_text(len(raw))}; at most "
            f"{size_text(FORTRAN_BYTES)} are turned round); save np.ascontiguousarray({member.name})"
        )
    whole = np.frombuffer(raw, member.dtype).reshape(member.shape, order="F")
    for start in range(0, member.shape[0], step):
        yield _converted(whole[start : start + step], member.name, _native(member.dtype))


def _native(dtype: np.dtype) -> np.dtype:
    """The dtype as stored: native byte order, no half or long floats, text instead of bytes and times."""
    if dtype.kind == "f":
        return np.dtype({2: "float32", 4: "float32"}.get(dtype.itemsize, "float64"))
    if dtype.kind in "Mm":
        return np.dtype("U32")
    return np.dtype(f"U{dtype.itemsize}") if dtype.kind == "S" else dtype.newbyteorder("=")


def _converted(rows: np.ndarray, name: str, dtype: np.dtype) -> np.ndarray:
    if rows.dtype.kind == "M":
        return np.where(np.isnat(rows), "", np.datetime_as_string(rows)).astype(dtype)
    if rows.dtype.kind == "S":
        try:
            return np.char.decode(rows, "utf-8").astype(dtype)
        except UnicodeDecodeError as error:
            raise BadData(f"array {name!r} holds bytes that are no UTF-8 text; save {name}.astype(str)") from error
    return rows.astype(dtype, copy=False)


def _plain_kind(member: Member) -> tuple[ColumnKind, str]:
    dtype = _native(member.dtype)
    if dtype.kind == "U":
        return ("time" if member.dtype.kind in "Mm" else "text"), "string"
    return _KINDS[dtype.kind], dtype.name


def _to_arrow(rows: np.ndarray, dtype: str) -> pa.Array:
    if dtype != "string":
        return pa.array(rows)
    return pa.array([text or None for text in rows.tolist()], pa.string())


def _step(row_bytes: int) -> int:
    return max(1, min(BATCH_ROWS, BATCH_BYTES // max(row_bytes, 1)))
