"""Data files beside an ONNX model: found by plain names among what was uploaded, and nowhere else."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engine.errors import BadModel
from engine.formats.archive import PLAIN_NAME, Archive
from engine.formats.onnx_check import stored_bytes

_KEYS = frozenset({"location", "offset", "length", "checksum", "basepath"})
_NUMBER = re.compile(r"\d{1,15}")


def locations(tensors: list[Any]) -> dict[str, int]:
    """{file name: bytes it must have at least} for the tensors kept outside. Raises BadModel for what is no name."""
    needed: dict[str, int] = {}
    for tensor in tensors:
        entries = [(entry.key, entry.value) for entry in tensor.external_data]
        place = dict(entries)
        if len(place) != len(entries) or not set(place) <= _KEYS:
            raise _refuse(tensor, "has entries that are unknown or occur twice")
        location = place.get("location", "")
        if location.startswith("./"):
            location = location[2:]
        if not PLAIN_NAME.fullmatch(location) or location.endswith(".onnx"):
            raise _refuse(tensor, f"names the file {location[:80]!r}; allowed is a plain name beside the model")
        for key in ("offset", "length"):
            if not _NUMBER.fullmatch(place.get(key, "0")):
                raise _refuse(tensor, f"has the {key} {place[key][:40]!r}")
        n_bytes = stored_bytes(tensor)
        if "length" in place and int(place["length"]) != n_bytes:
            raise _refuse(tensor, f"has the length {place['length']}, its shape asks for {n_bytes:,} bytes")
        end = int(place.get("offset", 0)) + n_bytes
        needed[location] = max(end, needed.get(location, 0))
    return needed


def _refuse(tensor: Any, what: str) -> BadModel:
    return BadModel(f"refused: the external data of the tensor {tensor.name[:60]!r} {what}; save the model again")


def copy_from_files(needed: Mapping[str, int], given: Mapping[str, Path], out: Path) -> None:
    """Copy the data files from those uploaded with the model. Raises BadModel when one is missing, short or a link."""

    def copy(location: str, target: Path) -> int:
        source = given[location]
        if source.is_symlink() or not source.is_file() or source.stat().st_nlink != 1:
            raise BadModel(f"refused: {location!r} is a link; upload the data file itself")
        shutil.copyfile(source, target)
        return target.stat().st_size

    _copy(needed, set(given), copy, out)


def copy_from_archive(needed: Mapping[str, int], archive: Archive, folder: str, out: Path) -> None:
    """Copy the data files from the zip they came in; `folder` is where the model lies in it ("" or "name/")."""

    def copy(location: str, target: Path) -> int:
        with target.open("wb") as file:
            for chunk in archive.chunks(folder + location):
                file.write(chunk)
        return archive.size(folder + location)

    names = {name.removeprefix(folder) for name in archive.names if name.startswith(folder)}
    _copy(needed, names, copy, out)


def _copy(needed: Mapping[str, int], given: set[str], copy: Callable[[str, Path], int], out: Path) -> None:
    if missing := sorted(set(needed) - given):
        raise BadModel(
            f"Needs {', '.join(missing)[:200]} (not uploaded): the weights lie in that file beside the model. "
            "Upload a zip that holds the .onnx file and its data files, or save the model as one file "
            "(onnx.save(onnx.load('model.onnx'), 'whole.onnx'))"
        )
    for location, n_bytes in needed.items():
        target = out / location
        target.parent.mkdir(parents=True, exist_ok=True)
        if (size := copy(location, target)) < n_bytes:
            raise BadModel(
                f"the data file {location!r} is cut off: it has {size:,} bytes, the model asks for {n_bytes:,}; upload "
                "the whole file"
            )
