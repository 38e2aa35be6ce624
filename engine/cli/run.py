"""`run`: try a chain of levers on a study, or another runtime for the original."""

from __future__ import annotations

import click

from engine.cli.door import Door, door
from engine.cli.progress import wait_for
from engine.cli.steps import parse_batches, parse_runtime, parse_step, parse_threads
from engine.measurement.estimate import estimate_s
from engine.records import Recipe, Study
from engine.reports.numbers import duration


@click.command("run")
@click.argument("study_ref", metavar="STUDY")
@click.option("--step", "steps", multiple=True, metavar="LEVER[:k=v,…]", help="A lever; repeat for a chain, in order.")
@click.option("--runtime", metavar="R[:k=v]", help="How the result is run (default: its format's reference runtime).")
@click.option("--batch", metavar="1,32,1024|sweep", help="Batch sizes to time (default: the study's); sweep: 1 to 128.")
@click.option("--threads", metavar="1,2", help="Threads of the serving process to time (default: the study's).")
@click.option("--preset", type=click.Choice(["quick", "standard", "strict"]), default="standard", show_default=True)
@click.option("--no-wait", is_flag=True, help="Only queue it.")
def command(
    study_ref: str,
    steps: tuple[str, ...],
    runtime: str | None,
    batch: str | None,
    threads: str | None,
    preset: str,
    no_wait: bool,
) -> None:
    """Run a chain of levers in the background and wait for it. Prints the experiment id on the last line."""
    from engine.jobs.start import start_run

    with door() as opened:
        study = opened.ledger.study(study_ref)
        ids = start_run(
            opened.ledger,
            study,
            Recipe(steps=tuple(parse_step(text) for text in steps)),
            runtime=parse_runtime(runtime) if runtime else None,
            batch_sizes=parse_batches(batch, study.signature.fixed_batch) if batch else (),
            threads=parse_threads(threads) if threads else (),
            preset=preset,  # type: ignore[arg-type]
            created_by=opened.user,
        )
        _say_how_long(opened, study, ids)
        if not no_wait:
            wait_for(opened, ids)
    click.echo(ids[-1])


def _say_how_long(opened: Door, study: Study, ids: list[str]) -> None:
    """On stderr: how long the timing will take, judged by the newest baseline; nothing before there is one."""
    finished = opened.ledger.experiments(study_id=study.id, statuses=("succeeded",))
    known = next((one.measurements for one in reversed(finished) if one.is_baseline), None)
    if known:
        specs = [opened.ledger.experiment(one).spec for one in ids]
        seconds = sum(estimate_s(spec.preset, spec.workloads, known) for spec in specs)
        click.echo(f"timing takes about {duration(seconds)}", err=True)
