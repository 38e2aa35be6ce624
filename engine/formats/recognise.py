"""Which format a model file has, by its content; and the sentence for everything else."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from types import ModuleType

import engine.formats
from engine.errors import BadModel
from engine.formats.refusals import explain

HEAD_BYTES = 1 << 16


@cache
def formats() -> dict[str, ModuleType]:
    """Every format by its place: a module of engine.formats that has `recognises`, `take` and `describe`."""
    names = (info.name for info in pkgutil.iter_modules(engine.formats.__path__))
    modules = {name: importlib.import_module(f"engine.formats.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, "recognises")}


def recognise(path: Path, name: str = "") -> str:
    """Name of the format of the file at `path`; `name` is what the user calls it.

    Raises BadModel with the reason and what to do: a pickle, an archive of another kind, a data file, nothing at all.
    """
    name = name or path.name
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head:
        raise BadModel(f"{name!r} is empty (0 bytes); save or upload it again")
    for format_name, module in formats().items():
        if module.recognises(head, path):
            return format_name
    raise BadModel(explain(head, path, name))
