"""`sample`: a study from one of the samples, with its baseline, in one command."""

from __future__ import annotations

import click

from engine.cli.door import door
from engine.cli.progress import wait_for
from sample_models import samples


@click.command("sample")
@click.argument("name", type=click.Choice(sorted(samples())))
@click.option("--no-wait", is_flag=True, help="Only queue the baseline.")
def command(name: str, no_wait: bool) -> None:
    """Create the study of a sample and run its baseline. Prints the study id on the last line."""
    from engine.jobs.start import start_sample

    with door() as opened:
        study = start_sample(opened.ledger, name, opened.user)
        if not no_wait:
            wait_for(opened, [row.id for row in opened.ledger.experiments(study_id=study.id)])
    click.echo(study.id)
