"""A `.pt2` archive checked member by member and field by field, and written again from the parts that passed.

The check gives the user a plain reason and is the first door; the sandbox is the boundary. Nothing here imports torch,
unpickles or evaluates text. The upload's zip structure, sample inputs (a pickle) and metadata do not survive.
"""

from __future__ import annotations

import json
import math
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.formats.archive import Archive, open_archive
from engine.formats.pt2_program import check_program
from engine.formats.pt2_text import DOTTED, MAX_JSON, refuse, strict_json

ITEM_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 2, 7: 4, 8: 8, 12: 1, 13: 2}  # torch serde ScalarType -> bytes
_FIXED = {"archive_format": rb"pt2", "archive_version": rb"0", "byteorder": rb"little", ".data/version": rb"\d{1,3}\n?"}
_ENTRY = {"path_name", "is_param", "use_pickle", "tensor_meta"}
_META = {"dtype", "sizes", "requires_grad", "device", "strides", "storage_offset", "layout"}
_STRIDED = 7  # torch serde Layout


@dataclass(frozen=True)
class Parts:
    """What passed the check. `payloads`: the members that hold numbers, by their names below the root folder."""

    name: str
    root: str
    program: dict[str, Any]
    weights: dict[str, Any]
    constants: dict[str, Any]
    payloads: tuple[str, ...]


def check_pt2(path: Path) -> Parts:
    """The checked parts of an archive. Raises BadModel with the first reason."""
    with open_archive(path) as archive:
        return _check(archive)


def _check(archive: Archive) -> Parts:
    inside = archive.below_root()
    if inside is None:
        raise refuse("more than one root folder")
    root, names = inside
    if packed := [name for name in archive.names if not archive.is_stored(name)]:
        raise refuse(f"the compressed member {packed[0][:80]!r}")
    models = sorted(name for name in names if name.startswith("models/"))
    found = re.fullmatch(r"models/([A-Za-z0-9_]{1,64})\.json", models[0]) if len(models) == 1 else None
    if not found:
        raise refuse(f"{len(models)} models ({', '.join(models[:2])[:100]}); exactly one models/NAME.json is allowed")
    name = found.group(1)
    for member, content in _FIXED.items():
        if member not in names or not re.fullmatch(content, archive.read(root + member, 64)):
            raise refuse(f"no known {member}")
    weights = _check_config(archive, root, "weights", f"{name}_weights_config.json", "weight_")
    constants = _check_config(archive, root, "constants", f"{name}_constants_config.json", "tensor_")
    payloads = {f"data/weights/{entry['path_name']}" for entry in weights["config"].values()}
    payloads |= {f"data/constants/{entry['path_name']}" for entry in constants["config"].values()}
    known = payloads | {*_FIXED, models[0], ".data/serialization_id", f"data/sample_inputs/{name}.pt"}
    known |= {f"data/{kind}/{name}_{kind}_config.json" for kind in ("weights", "constants")}
    if unknown := sorted(names - known):
        raise refuse(f"the member {unknown[0][:80]!r}, which is not on the list")
    program = check_program(archive.read(root + models[0], MAX_JSON))
    return Parts(name, root, program, weights, constants, tuple(sorted(payloads)))


# ---------------------------------------------------------------- weights and constants
def _check_config(archive: Archive, root: str, kind: str, config_name: str, prefix: str) -> dict[str, Any]:
    member = f"{root}data/{kind}/{config_name}"
    if member not in archive.names:
        raise refuse(f"no {config_name}")
    config = strict_json(archive.read(member, MAX_JSON), config_name)
    if type(config) is not dict or set(config) != {"config"} or type(config["config"]) is not dict:
        raise refuse(f"a {config_name} of unknown form")
    sizes = {name.rpartition("/")[2]: archive.size(name) for name in archive.names if f"{root}data/{kind}/" in name}
    for tensor, entry in config["config"].items():
        _check_entry(tensor, entry, prefix, sizes)
    return config


def _check_entry(tensor: str, entry: Any, prefix: str, sizes: dict[str, int]) -> None:
    """One tensor: plain, strided, on the CPU, inside its member."""
    if not DOTTED.fullmatch(tensor) or len(tensor) > 256:
        raise refuse(f"the tensor name {tensor[:80]!r}")
    if type(entry) is not dict or set(entry) != _ENTRY:
        raise refuse(f"the tensor {tensor} with unexpected fields")
    path, meta = entry["path_name"], entry["tensor_meta"]
    if type(path) is not str or not re.fullmatch(rf"{prefix}\d+", path):
        raise refuse(f"the tensor {tensor} in the member {str(path)[:80]!r}, allowed is {prefix}N")
    if entry["use_pickle"] is not False or type(entry["is_param"]) is not bool:
        raise refuse(f"the tensor {tensor} as a pickle")
    if path not in sizes:
        raise refuse(f"no member {path} for the tensor {tensor}")
    if type(meta) is not dict or set(meta) != _META:
        raise refuse(f"the tensor {tensor} with unexpected fields")
    if type(meta["dtype"]) is not int or meta["dtype"] not in ITEM_BYTES or meta["layout"] != _STRIDED:
        raise refuse(f"the tensor {tensor} of an unknown type or layout")
    if meta["device"] != {"type": "cpu", "index": None}:
        raise refuse(
            f"the tensor {tensor} on the device {str(meta['device'])[:40]}: export it on the CPU (model.cpu())"
        )
    if _claimed_items(tensor, meta) * ITEM_BYTES[meta["dtype"]] > sizes[path]:
        raise refuse(f"the tensor {tensor}, which claims more elements than its member holds")


def _claimed_items(tensor: str, meta: dict[str, Any]) -> int:
    """Items the tensor reaches in its member, and at least as many as it has elements."""
    sizes, strides = (_numbers(tensor, meta[key]) for key in ("sizes", "strides"))
    (offset,) = _numbers(tensor, [meta["storage_offset"]])
    if len(sizes) != len(strides) or len(sizes) > 16:
        raise refuse(f"the tensor {tensor} with {len(sizes)} sizes and {len(strides)} strides")
    reach = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True)) + 1
    return max(reach, math.prod(sizes)) if all(sizes) else 0


def _numbers(tensor: str, values: Any) -> list[int]:
    entries = values if type(values) is list else [None]
    found = [entry["as_int"] if type(entry) is dict and set(entry) == {"as_int"} else None for entry in entries]
    if not all(type(number) is int and 0 <= number < 1 << 48 for number in found):
        raise refuse(f"the tensor {tensor} with sizes that are no numbers")
    return [int(number) for number in found if number is not None]


def write_pt2(parts: Parts, source: Path, target: Path, root: str = "model") -> None:
    """Write a new archive from the checked parts; the numbers are copied from `source` piece by piece."""
    texts = {"archive_format": "pt2", "archive_version": "0", "byteorder": "little", ".data/version": "6\n"}
    texts[f"data/sample_inputs/{parts.name}.pt"] = ""
    texts[f"models/{parts.name}.json"] = json.dumps(parts.program)
    for kind, config in (("weights", parts.weights), ("constants", parts.constants)):
        texts[f"data/{kind}/{parts.name}_{kind}_config.json"] = json.dumps(config)
    with open_archive(source) as archive, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as written:
        for name in parts.payloads:
            with written.open(_member(f"{root}/{name}"), "w", force_zip64=True) as member:
                for chunk in archive.chunks(parts.root + name):
                    member.write(chunk)
        for name, text in texts.items():
            written.writestr(_member(f"{root}/{name}"), text)


def _member(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name)  # the date stays 1980: the same model gives the same bytes
