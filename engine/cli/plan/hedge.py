"""`plan hedge`: what the slowest users see, and what a second copy of slow requests would do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from engine.cli.door import say_json, say_table
from engine.cli.plan.pairs import read_text
from engine.records.checked import checked
from engine.records.tails import TailSettings
from engine.reports.plan_hedge import answer, notes, rows


@click.command("hedge")
@click.option(
    "--samples",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Latencies of single requests in ms, one a line.",
)
@click.option("--budget", type=float, default=0.02, show_default=True, help="Share of requests sent twice.")
@click.option("--delay-ms", type=float, help="Instead of the delay that keeps the budget.")
@click.option("--utilisation", type=float, help="Busy share of the fleet without hedging.")
@click.option("--fan-out", type=int, default=1, show_default=True, help="Calls that all have to come back.")
@click.option("--timeout-ms", type=float, help="After which a fallback answers.")
@click.option("--fallback-ms", type=float, default=0.0, show_default=True)
@click.option("--cold-fraction", type=float, default=0.0, show_default=True, help="Requests that meet a cold start.")
@click.option("--cold-ms", type=float, default=0.0, show_default=True)
@click.option("--pause-ms", type=float, default=0.0, show_default=True, help="Of the process, as garbage collection.")
@click.option("--pause-every-s", type=float, default=0.0, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(samples: Path, seed: int, as_json: bool, **settings: Any) -> None:
    """Plan hedging, fan-out, fallback, cold starts and pauses from measured latencies."""
    from engine.planning.tail import plan_tail
    from engine.simulation.arrivals import read_times

    plan = plan_tail(read_times(read_text(samples)), checked(TailSettings, **settings), seed)
    if as_json:
        say_json({"answer": answer(plan), **plan.model_dump(mode="json"), "notes": notes(plan)})
        return
    click.echo(answer(plan) + "\n")
    say_table(rows(plan), "no latency")
    click.echo("\n".join(["", *notes(plan)]))
