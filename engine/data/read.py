"""Read an uploaded data file once, in the confined child: recognise, check, store in one plain form, describe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.data.columnar_file import read_arrow, read_parquet
from engine.data.content import recognise
from engine.data.csv_file import read_csv
from engine.data.disk import writing
from engine.data.npz_file import read_npz
from engine.data.profile import ROW_NUMBER_NOTE, ColumnProfile, TableProfile
from engine.data.table_writer import save_profile

if TYPE_CHECKING:
    from engine.sandbox import Talk

_UNNAMED = ("Unnamed: 0", "__index_level_0__")


def read(request: dict[str, Any], talk: Talk) -> dict[str, Any]:
    """Write table.parquet, arrays/ and profile.json into request["out"]; answers the TableProfile.

    Request: path, out, and for CSV optionally encoding and separator. Raises BadData, NoSpace.
    """
    path, out = Path(request["path"]), Path(request["out"])
    with writing():
        profile = _with_row_number(_read(path, out, talk, request.get("encoding"), request.get("separator")))
        save_profile(out, profile)
    return profile.model_dump(mode="json")


def _read(path: Path, out: Path, talk: Talk, encoding: str | None, separator: str | None) -> TableProfile:
    found = recognise(path)
    if found == "csv":
        return read_csv(path, out, talk, encoding, separator)
    return {"parquet": read_parquet, "arrow": read_arrow, "npz": read_npz}[found](path, out, talk)


def _with_row_number(profile: TableProfile) -> TableProfile:
    """Mark a column without a name that holds whole numbers: the index that to_csv or to_parquet kept."""
    if not any(_is_row_number(column) for column in profile.columns):
        return profile
    columns = tuple(
        column.model_copy(update={"row_number": True}) if _is_row_number(column) else column
        for column in profile.columns
    )
    return profile.model_copy(update={"columns": columns, "notes": (ROW_NUMBER_NOTE, *profile.notes)})


def _is_row_number(column: ColumnProfile) -> bool:
    return column.name in _UNNAMED and column.kind == "whole number" and column.n_missing == 0
