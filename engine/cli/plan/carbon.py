"""`plan carbon`: energy and carbon of a fleet, an estimate with its inputs."""

from __future__ import annotations

from typing import Any

import click

from engine.cli.door import say_json
from engine.errors import InvalidRequest
from engine.records.carbon import CarbonSettings
from engine.records.checked import checked
from engine.reports.plan_carbon import answer, notes


@click.command("carbon")
@click.option("--replicas", "n_replicas", type=int, default=1, show_default=True)
@click.option("--active-w", type=float, required=True, help="Power of a replica while it serves.")
@click.option("--idle-w", type=float, default=0.0, show_default=True, help="Power of a replica that waits.")
@click.option("--busy-ms", type=float, required=True, help="Time a request keeps a replica busy.")
@click.option("--rate", "rate_per_s", type=float, required=True, help="Requests/s.")
@click.option("--pue", type=float, default=1.2, show_default=True, help="Power usage effectiveness of the building.")
@click.option("--grid", "grams_per_kwh", type=float, help="g CO2e per kWh; 475, a world average, without it.")
@click.option("--mix", multiple=True, metavar="SOURCE:SHARE", help="Instead of --grid, as coal:0.25; shares sum to 1.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(mix: tuple[str, ...], grams_per_kwh: float | None, as_json: bool, **settings: Any) -> None:
    """Estimate grams per 1,000 requests and kilograms a month."""
    from engine.planning.carbon import mixed_grid, plan_carbon

    if mix and grams_per_kwh is not None:
        raise InvalidRequest("give the grid by --grid or by --mix, not both")
    grid = mixed_grid(dict(_share(text) for text in mix)) if mix else grams_per_kwh
    more = {} if grid is None else {"grams_per_kwh": grid}
    plan = plan_carbon(checked(CarbonSettings, **settings, **more))
    if as_json:
        say_json({"answer": answer(plan), **plan.model_dump(mode="json"), "notes": notes(plan)})
        return
    click.echo("\n".join([answer(plan), "", *notes(plan)]))


def _share(text: str) -> tuple[str, float]:
    name, _, share = text.partition(":")
    try:
        return name, float(share)
    except ValueError:
        raise InvalidRequest(f"--mix {text[:80]!r} cannot be read: write source:share, as coal:0.25") from None
