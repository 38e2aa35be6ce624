"""`disagreements`: the rows on which a variant differs most from the original."""

from __future__ import annotations

from pathlib import Path

import click

from engine.cli.door import door, say_table
from engine.errors import InvalidRequest
from engine.reports.disagreements import COLUMNS, disagreement_rows
from engine.reports.export_table import to_csv, to_json


@click.command("disagreements")
@click.argument("experiment_ref", metavar="EXPERIMENT")
@click.option(
    "--slice", "slices", multiple=True, metavar="COLUMN=VALUE", help="Only these rows; repeat to narrow down."
)
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="How many rows at most.")
@click.option("--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to a file.")
def command(experiment_ref: str, slices: tuple[str, ...], limit: int, form: str, output: Path | None) -> None:
    """Show the selection rows on which a variant differs from the original, harm first."""
    from engine.disagreement import disagreements

    with door() as opened:
        experiment = opened.ledger.experiment(experiment_ref)
        study = opened.ledger.study(experiment.spec.study_id)
        found = disagreements(experiment, study, opened.workspace, within=[_pair(text) for text in slices], limit=limit)
    rows = disagreement_rows(found)
    if form == "table" and output is None:
        say_table([{name: _short(value) for name, value in row.items()} for row in rows], "no row differs")
        return
    data = to_json(rows) if form == "json" else to_csv(rows, COLUMNS)
    if output is None:
        click.echo(data.decode(), nl=False)
    else:
        output.write_bytes(data)
        click.echo(f"{len(rows)} rows written to {output}", err=True)


def _pair(text: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not equals or not column:
        raise InvalidRequest(f"--slice is COLUMN=VALUE, for example carrier=HA; got {text!r}")
    return column, value


def _short(value: object) -> object:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "".join(sign if sign.isprintable() else " " for sign in value) if isinstance(value, str) else value
