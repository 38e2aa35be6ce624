"""`plan batching`: the smallest batch cap and the smallest wait that keep a p95 budget."""

from __future__ import annotations

from pathlib import Path

import click

from engine.cli.door import door, say_json, say_table
from engine.errors import InvalidRequest
from engine.measurement.curve import Curve, curve
from engine.records.batching import ServiceProfile
from engine.records.checked import checked
from engine.reports.plan_batching import answer, figures, formulas, low_sentence, rows, triton_config


@click.command("batching")
@click.option("--a", "fixed_ms", type=float, help="Fixed part of a call's time, ms.")
@click.option("--b", "per_item_ms", type=float, help="What one more request in a call adds, ms.")
@click.option("--point", "points", multiple=True, metavar="BATCH:MS", help="Instead: a measured call time. Repeat.")
@click.option("--experiment", metavar="ID", help="Instead: the batch sweep of that experiment.")
@click.option("--rate", type=float, required=True, help="Requests/s at the busiest time.")
@click.option("--low-rate", type=float, help="Requests/s in a quiet hour.  [default: a tenth of --rate]")
@click.option("--p95-ms", type=float, required=True, help="The p95 of a request, waiting included.")
@click.option("--headroom", type=float, default=0.3, show_default=True, help="Share of the rate that must fit on top.")
@click.option("--instances", type=int, default=1, show_default=True, help="Copies of the model that share the queue.")
@click.option("--caps", help="Caps to try, as 4,8,16.")
@click.option("--waits", help="Waits to try in ms, as 0,2,5.")
@click.option("--seed", type=int, default=42, show_default=True)
@click.option("--triton", type=click.Path(dir_okay=False, path_type=Path), help="Write a config.pbtxt here.")
@click.option("--name", default="model", show_default=True, help="The model's name in config.pbtxt.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    fixed_ms: float | None,
    per_item_ms: float | None,
    points: tuple[str, ...],
    experiment: str | None,
    rate: float,
    low_rate: float | None,
    p95_ms: float,
    headroom: float,
    instances: int,
    caps: str | None,
    waits: str | None,
    seed: int,
    triton: Path | None,
    name: str,
    as_json: bool,
) -> None:
    """Simulate a dynamic batcher over caps and waits, at the peak and at low traffic."""
    from engine.planning.batching import WAITS_MS, plan_batching

    plan = plan_batching(
        _profile(fixed_ms, per_item_ms, points, experiment),
        rate,
        p95_ms,
        low_per_s=low_rate,
        headroom=headroom,
        n_instances=instances,
        caps=[int(cap) for cap in _numbers(caps, "--caps", whole=True)] if caps else None,
        waits_ms=_numbers(waits, "--waits") if waits else WAITS_MS,
        seed=seed,
    )
    if triton is not None:
        if plan.least is None:
            raise InvalidRequest(f"no config to write: {answer(plan)}")
        triton.write_text(triton_config(plan, name), encoding="utf-8")
    if as_json:
        say_json(figures(plan))
        return
    click.echo(f"{answer(plan)}\n{low_sentence(plan)}\n")
    say_table(rows(plan), "no setting")
    click.echo("\n".join(["", *formulas(plan)]))


def _profile(
    fixed_ms: float | None, per_item_ms: float | None, points: tuple[str, ...], experiment: str | None
) -> ServiceProfile:
    by_hand = fixed_ms is not None or per_item_ms is not None
    if sum((by_hand, bool(points), experiment is not None)) != 1:
        raise InvalidRequest(
            "say how long a call takes in one way: --a and --b, or --point several times, or --experiment"
        )
    if by_hand:
        made: ServiceProfile = checked(ServiceProfile, fixed_ms=fixed_ms or 0.0, per_item_ms=per_item_ms or 0.0)
        return made
    return profile_of(_measured(experiment) if experiment is not None else curve(dict(map(_point, points))))


def profile_of(line: Curve) -> ServiceProfile:
    """The line where it stands for the points, else the points."""
    if line.fit is not None and line.fit.holds:
        return ServiceProfile(fixed_ms=line.fit.fixed_ms, per_item_ms=line.fit.per_item_ms)
    made: ServiceProfile = checked(ServiceProfile, points=line.points)
    return made


def _measured(reference: str) -> Curve:
    from engine.cli.sweep import measured

    with door() as opened:
        arms = measured(opened.ledger.experiment(reference), None)
    return next(iter(arms.values()))[0].curve


def _point(text: str) -> tuple[int, float]:
    try:
        size, ms = text.split(":")
        found = int(size), float(ms)
    except ValueError:
        raise InvalidRequest(f"--point {text!r} cannot be read: write batch:ms, as 8:6.6") from None
    if found[0] < 1 or not 0 < found[1] < 1e9:
        raise InvalidRequest(f"--point {text!r}: the batch must be at least 1 and the time above 0 ms")
    return found


def _numbers(text: str, option: str, *, whole: bool = False) -> list[float]:
    try:
        return [int(part) if whole else float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidRequest(f"{option} {text!r} cannot be read: write numbers with commas between them") from None
