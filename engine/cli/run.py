"""`run`: try a chain of levers on a study, or another runtime for the original."""

from __future__ import annotations

import click

from engine.cli.door import door
from engine.cli.progress import wait_for
from engine.cli.steps import parse_batches, parse_runtime, parse_step
from engine.records import Recipe


@click.command("run")
@click.argument("study_ref", metavar="STUDY")
@click.option("--step", "steps", multiple=True, metavar="LEVER[:k=v,…]", help="A lever; repeat for a chain, in order.")
@click.option("--runtime", metavar="R[:k=v]", help="How the result is run (default: its format's reference runtime).")
@click.option("--batch", metavar="1,32,1024", help="Batch sizes to time (default: the study's).")
@click.option("--preset", type=click.Choice(["quick", "standard", "strict"]), default="standard", show_default=True)
@click.option("--no-wait", is_flag=True, help="Only queue it.")
def command(
    study_ref: str, steps: tuple[str, ...], runtime: str | None, batch: str | None, preset: str, no_wait: bool
) -> None:
    """Run a chain of levers in the background and wait for it. Prints the experiment id on the last line."""
    from engine.jobs.start import start_run

    with door() as opened:
        study = opened.ledger.study(study_ref)
        ids = start_run(
            opened.ledger,
            opened.url,
            opened.home,
            study,
            Recipe(steps=tuple(parse_step(text) for text in steps)),
            runtime=parse_runtime(runtime) if runtime else None,
            batch_sizes=parse_batches(batch) if batch else (),
            preset=preset,  # type: ignore[arg-type]
            created_by=opened.user,
        )
        if not no_wait:
            wait_for(opened, ids)
    click.echo(ids[-1])
