"""ONNX: one file, or a zip (or several files) with the weights beside the model."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.errors import BadModel
from engine.formats.archive import is_zip, open_archive
from engine.formats.onnx_check import MAX_BYTES, check_model, read_model
from engine.formats.onnx_describe import describe_model
from engine.formats.onnx_external import copy_from_archive, copy_from_files, locations
from engine.formats.onnx_versions import check_versions
from engine.formats.onnx_wire import has_outline

FILE = "model.onnx"


def recognises(head: bytes, path: Path) -> bool:
    """True for the outline of an ONNX protobuf, and for a zip archive with a member NAME.onnx."""
    if not is_zip(head):
        with path.open("rb") as file:
            return has_outline(file)
    try:
        with open_archive(path) as archive:
            return any(name.endswith(".onnx") for name in archive.names)
    except BadModel:
        return False


def take(path: Path, out: Path, beside: Mapping[str, Path] | None = None) -> None:
    """Check the model and copy it as out/model.onnx, its data files beside it under their own names.

    beside: {file name: path} of data files uploaded with it. Raises BadModel.
    """
    with path.open("rb") as file:
        zipped = is_zip(file.read(4))
    if zipped:
        _take_archive(path, out)
        return
    shutil.copyfile(path, out / FILE)
    copy_from_files(_needed(out / FILE), beside or {}, out)


def _take_archive(path: Path, out: Path) -> None:
    with open_archive(path) as archive:
        models = [name for name in archive.names if name.endswith(".onnx")]
        if len(models) != 1:
            raise BadModel(
                f"the zip archive holds {len(models)} .onnx files ({', '.join(models[:3])[:200]}); pack one model alone"
            )
        if archive.size(models[0]) > MAX_BYTES:
            raise BadModel(
                f"the member {models[0][:80]!r} has more than 2 GB; save it with external data and pack both"
            )
        with (out / FILE).open("wb") as file:
            for chunk in archive.chunks(models[0]):
                file.write(chunk)
        folder = models[0][: -len(models[0].rpartition("/")[2])]
        copy_from_archive(_needed(out / FILE), archive, folder, out)


def _needed(path: Path) -> dict[str, int]:
    model = read_model(path)
    check_versions(model)
    return locations(check_model(model))


def describe(folder: Path) -> dict[str, Any]:
    """Manifest fields of the model in `folder`."""
    return describe_model(read_model(folder / FILE))
