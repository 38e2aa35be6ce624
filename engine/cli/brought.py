"""What `study new` starts with: files that are named, or what another study was made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.cli.door import Door
from engine.data.profile import TableProfile
from engine.errors import InvalidRequest, NotFound
from engine.intake import load_profile, read_table, take_model
from engine.records import Manifest, Study
from engine.study import Bound, bound_before


@dataclass(frozen=True)
class Brought:
    """Model and rows. choices: what was said about the same rows before; bound: nothing about them is new."""

    model: Manifest
    model_name: str
    table_id: str | None
    data_name: str
    profile: TableProfile | None
    train_table_id: str | None = None
    train_name: str = ""
    choices: dict[str, Any] = field(default_factory=dict)
    bound: Bound | None = None


def brought(opened: Door, given: dict[str, Any], *, said_anything: bool) -> Brought:
    """Read the files that are named; the rest comes from the study of --from.

    said_anything: something is said about the rows, so they are bound anew. Raises InvalidRequest, NotFound, BadInput.
    """
    before = opened.ledger.study(given["from_study"]) if given["from_study"] else None
    for name in ("model", "data"):
        if given[name] is None and before is None:
            raise InvalidRequest(f"name the {name} with --{name} FILE, or a study to start from with --from STUDY")
    if given["model"] is not None:
        model, model_name = take_model(given["model"], given["model"].name, opened.workspace), given["model"].name
    else:
        assert before is not None
        entry = opened.ledger.model_entry(before.model_id)
        model, model_name = entry.manifest, entry.display_name
    rows = _rows(opened, given, before)
    same = before is not None and given["model"] is None and given["data"] is None and not said_anything
    bound = bound_before(before, opened.workspace) if same and before is not None else None
    if rows["table_id"] is None and bound is None:
        raise InvalidRequest(
            f"the study {given['from_study']!r} was made before its data file was remembered; name it with --data FILE"
        )
    return Brought(model=model, model_name=model_name, bound=bound, **rows)


def _rows(opened: Door, given: dict[str, Any], before: Study | None) -> dict[str, Any]:
    source = before.source if before is not None else None
    found: dict[str, Any] = {"table_id": None, "data_name": "", "profile": None}
    if source is not None:
        found |= {"choices": source.choices, "train_table_id": source.train_table_id, "train_name": source.train_name}
    reading = {"encoding": given["encoding"], "separator": given["separator"]}
    if given["data"] is not None:
        path: Path = given["data"]
        found["table_id"], found["profile"] = read_table(path, path.name, opened.workspace, **reading)
        found["data_name"] = path.name
    elif source is not None:
        try:
            found["profile"] = load_profile(source.table_id, opened.workspace)
            found |= {"table_id": source.table_id, "data_name": source.data_name}
        except NotFound:
            pass  # the files lie elsewhere: only what was bound can be used
    if given["train_data"] is not None:
        more: Path = given["train_data"]
        found["train_table_id"], _ = read_table(more, more.name, opened.workspace, **reading)
        found["train_name"] = more.name
    return found
