"""`levers`: the catalogue, and for a study which of them fit."""

from __future__ import annotations

from typing import Any

import click

from engine.cli.door import door, say_json, say_table
from engine.plugin import levers


@click.command("levers")
@click.option(
    "--for", "study_ref", metavar="STUDY", help="Say which fit the model of this study, and why others do not."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON with every parameter.")
def command(study_ref: str | None, as_json: bool) -> None:
    """List what can be done to a model."""
    reasons: dict[str, str | None] = {}
    if study_ref:
        from engine.jobs.start import fitting

        with door() as opened:
            reasons = fitting(opened.ledger.model(opened.ledger.study(study_ref).model_id))
    rows = [_row(name, reasons) for name in levers()]
    if as_json:
        say_json(rows)
        return
    columns = ("lever", "title", "takes", "gives", *(("fits",) if study_ref else ()))
    say_table([{column: row[column] for column in columns} for row in rows], "no levers")


def _row(name: str, reasons: dict[str, str | None]) -> dict[str, Any]:
    cls = levers()[name]
    properties = cls.model_json_schema().get("properties", {})
    row: dict[str, Any] = {
        "lever": name,
        "title": cls.title,
        "summary": (cls.__doc__ or "").strip().splitlines()[0],
        "takes": " or ".join(sorted(cls.accepts)),
        "gives": cls.produces or "the same",
        "params": {
            key: {
                what: spec.get(what)
                for what in ("type", "enum", "default", "minimum", "maximum", "description")
                if what in spec
            }
            for key, spec in properties.items()
        },
    }
    if reasons:
        row["fits"] = "yes" if reasons[name] is None else f"no: {reasons[name]}"
    return row
