"""`compare`: the table of a study, baseline first."""

from __future__ import annotations

from pathlib import Path

import click

from engine.cli.door import door
from engine.errors import InvalidRequest
from engine.reports.compare import compare_rows
from engine.reports.export_table import to_csv, to_json, to_markdown, to_text, to_xlsx

FORMATS = {"table": to_text, "csv": to_csv, "md": to_markdown, "json": to_json, "xlsx": to_xlsx}


@click.command("compare")
@click.argument("study_ref", metavar="STUDY")
@click.option("--batch", type=click.IntRange(min=1), help="Batch size to compare at (default: the study's).")
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="table", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to a file.")
def command(study_ref: str, batch: int | None, form: str, output: Path | None) -> None:
    """Compare every variant of a study with its baseline. Quality is that of the selection split."""
    if form == "xlsx" and output is None:
        raise InvalidRequest("an Excel file is not text; name a file with -o FILE.xlsx")
    with door() as opened:
        study = opened.ledger.study(study_ref)
        rows = compare_rows(study, opened.ledger.summaries(study.id), batch)
    data = FORMATS[form](rows)
    if output is not None:
        output.write_bytes(data)
        click.echo(f"{len(rows)} rows written to {output}", err=True)
    else:
        click.echo(data.decode(), nl=False)
