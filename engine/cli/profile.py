"""`profile`: where the time of one call goes, operator by operator."""

from __future__ import annotations

import click

from engine.cli.door import door, say_json, say_table
from engine.errors import NotFound
from engine.reports.operators import operator_rows


@click.command("profile")
@click.argument("experiment_ref", metavar="EXPERIMENT")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(experiment_ref: str, as_json: bool) -> None:
    """Show the time per operator of the original beside the variant, and what changed in one sentence."""
    with door() as opened:
        experiment = opened.ledger.experiment(experiment_ref)
    profile = experiment.operators
    if profile is None:
        why = experiment.error.message if experiment.error else f"it is {experiment.status}, and was run without one"
        raise NotFound(f"experiment {experiment.id} has no operator profile: {why}")
    if as_json:
        say_json({"experiment": experiment.id, **profile.model_dump(mode="json")})
        return
    click.echo(profile.reading)
    say_table(operator_rows(profile), "no operators")
    calls = f"{profile.n_calls} calls at batch {profile.batch_size}"
    click.echo(f"\nThe faster half of {calls}, with the profiler on: read the shares.")
