"""A TorchScript archive checked member by member, and written again from the parts that passed. Loads nothing.

The check gives the user a plain reason and is the first door; the sandbox is the boundary. Debug tables and extra
files do not survive; of the examples of a trace torch keeps the shapes alone, and so do we.
"""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.formats.archive import Archive, open_archive
from engine.formats.torchscript_classes import Code
from engine.formats.torchscript_code import MAX_CODE, read_code
from engine.formats.torchscript_pickle import Object, Tensor, read_pickle
from engine.formats.torchscript_text import refuse

MAX_PICKLE = 64 << 20
_CODE = re.compile(r"code/(__torch__(?:/\w+)*|__torch__)\.py", re.ASCII)
_DROPPED = re.compile(
    r"code/.*\.debug_pkl|extra/.*|traced_inputs/\d+|\.data/serialization_id|\.format_version"
    r"|\.storage_alignment|byteorder|attributes\.pkl"
)
_PICKLES = ("data.pkl", "constants.pkl", "traced_inputs.pkl")
_TENSORS = re.compile(r"(?:data|constants)/\d{1,9}", re.ASCII)


@dataclass(frozen=True)
class Parts:
    """What passed. code: member -> text; pickles: member -> bytes; tensors: members that hold numbers.

    examples: the tensors the model was traced with, in the order of its inputs; None for a scripted one.
    """

    root: str
    version: str
    code: dict[str, str]
    parsed: Code
    pickles: dict[str, bytes]
    tensors: tuple[str, ...]
    module: Object
    examples: tuple[Tensor, ...] | None

    def trained(self) -> Iterator[Tensor]:
        """Every parameter of the module and of those inside it."""
        yield from self._trained(self.module)

    def _trained(self, owner: Object) -> Iterator[Tensor]:
        declared = self.parsed.classes[owner.kind]
        for name, value in owner.state.items():
            if isinstance(value, Object):
                yield from self._trained(value)
            elif isinstance(value, Tensor) and name in declared.parameters:
                yield value


def check_torchscript(path: Path) -> Parts:
    """The checked parts of an archive. Raises BadModel with the first reason."""
    with open_archive(path) as archive:
        return _check(archive)


def _check(archive: Archive) -> Parts:
    inside = archive.below_root()
    if inside is None:
        raise refuse("more than one root folder")
    root, names = inside
    code = {name: _text(archive, root + name) for name in sorted(names) if _CODE.fullmatch(name)}
    tensors = {name for name in names if _TENSORS.fullmatch(name)}
    known = {*code, *tensors, *_PICKLES, "version"}
    unknown = sorted(name for name in names - known if not _DROPPED.fullmatch(name))
    if unknown:
        raise refuse(f"the member {unknown[0][:80]!r}, which is not on the list")
    for needed in ("data.pkl", "constants.pkl", "version"):
        if needed not in names:
            raise refuse(f"no {needed}")
    if "byteorder" in names and archive.read(f"{root}byteorder", 16) != b"little":
        raise refuse("numbers in the byte order of another machine")
    version = archive.read(f"{root}version", 16).decode("ascii", "replace").strip()
    if not re.fullmatch(r"\d{1,3}", version):
        raise refuse(f"the version {version[:10]!r}")
    if packed := [name for name in tensors if not archive.is_stored(root + name)]:
        raise refuse(f"the compressed member {packed[0][:80]!r}")
    parsed = read_code({name[len("code/") : -len(".py")].replace("/", "."): text for name, text in code.items()})
    pickles = {name: archive.read(root + name, MAX_PICKLE) for name in _PICKLES if name in names}
    module = _read(archive, root, pickles["data.pkl"], "data", parsed)
    _read(archive, root, pickles["constants.pkl"], "constants", parsed)
    if not isinstance(module, Object) or "forward" not in parsed.classes[module.kind].methods:
        raise refuse("no module with a forward method")
    examples = _examples(pickles["traced_inputs.pkl"]) if "traced_inputs.pkl" in names else None
    return Parts(root, version, code, parsed, pickles, tuple(sorted(tensors)), module, examples)


def _text(archive: Archive, name: str) -> str:
    try:
        return archive.read(name, MAX_CODE).decode("utf-8")
    except UnicodeDecodeError as error:
        raise refuse("code that is not text") from error


def _read(archive: Archive, root: str, data: bytes, folder: str, code: Code) -> Any:
    """The value of a pickle, after checking that its tensors lie inside their members and its classes exist."""
    value, tensors = read_pickle(data, f"{folder}.pkl")
    for tensor in tensors:
        storage = tensor.storage
        member = f"{root}{folder}/{storage.key}"
        held = archive.size(member) if member in archive.names else -1
        reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides, strict=True)) + 1
        claimed = max(tensor.offset + reach, math.prod(tensor.shape)) if all(tensor.shape) else 0
        if storage.n_items * storage.item_bytes > held or claimed > storage.n_items:
            raise refuse(f"a tensor that claims more than the {max(held, 0):,} bytes of {folder}/{storage.key}")
    for made in _objects(value):
        if made.kind not in code.classes:
            raise refuse(f"an object of {made.kind[:80]!r}, which its code does not have")
    return value


def _objects(value: Any) -> Iterator[Object]:
    waiting, seen = [value], set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, Object):
            yield each
            waiting.extend(each.state.values())
        elif isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, list | tuple):
            waiting.extend(each)


def _examples(data: bytes) -> tuple[Tensor, ...] | None:
    value, _ = read_pickle(data, "traced_inputs.pkl")
    given = value.get("forward") if isinstance(value, dict) else None
    whole = isinstance(given, list) and all(isinstance(each, Tensor) for each in given)
    return tuple(given) if whole and given else None


def write_torchscript(parts: Parts, source: Path, target: Path, root: str = "model") -> None:
    """Write a new archive from the checked parts; the numbers are copied from `source` piece by piece."""
    with open_archive(source) as archive, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as written:
        for name, data in parts.pickles.items():
            written.writestr(_member(f"{root}/{name}"), data)
        for name, text in parts.code.items():
            written.writestr(_member(f"{root}/{name}"), text)
        for name in parts.tensors:
            with written.open(_member(f"{root}/{name}"), "w", force_zip64=True) as member:
                for chunk in archive.chunks(parts.root + name):
                    member.write(chunk)
        written.writestr(_member(f"{root}/byteorder"), "little")
        written.writestr(_member(f"{root}/version"), f"{parts.version}\n")


def _member(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name)  # the date stays 1980: the same model gives the same bytes
