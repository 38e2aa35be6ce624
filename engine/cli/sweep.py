"""`sweep`: what one experiment says about batch size."""

from __future__ import annotations

from collections.abc import Callable

import click

from engine.cli.door import door, say_json, say_table
from engine.errors import NotFound
from engine.measurement.sweep import Sweep, SweepRow, sweeps
from engine.records import Experiment, Interval
from engine.reports.compare import recipe_text
from engine.reports.numbers import latency, rate


@click.command("sweep")
@click.argument("experiment_ref", metavar="EXPERIMENT")
@click.option("--p95-ms", type=click.FloatRange(min=0, min_open=True), help="Name the largest batch within this p95.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(experiment_ref: str, p95_ms: float | None, as_json: bool) -> None:
    """Show latency and items/s by batch size, the fitted call time, and what batching brings."""
    with door() as opened:
        experiment = opened.ledger.experiment(experiment_ref)
    arms = measured(experiment, p95_ms)
    if as_json:
        answer = {name: [one.model_dump(mode="json") for one in found] for name, found in arms.items()}
        say_json({"experiment": experiment.id, "recipe": recipe_text(experiment.spec.recipe), **answer})
        return
    for name, found in arms.items():
        for one in found:
            click.echo(f"{name}, {one.threads} thread{'s' if one.threads > 1 else ''}")
            say_table([_row(row) for row in one.rows], "not measured")
            click.echo("\n".join(f"  {line}" for line in _lines(one)) + "\n")


def measured(experiment: Experiment, p95_ms: float | None) -> dict[str, list[Sweep]]:
    """The sweeps of the arms that were timed. Raises NotFound when none was."""
    if not experiment.measurements:
        why = experiment.error.message if experiment.error else f"it is {experiment.status}"
        raise NotFound(f"experiment {experiment.id} has no timings: {why}")
    if not experiment.baselines:
        return {"original": sweeps(experiment.measurements, p95_ms)}
    return {"variant": sweeps(experiment.measurements, p95_ms), "original": sweeps(experiment.baselines, p95_ms)}


def _row(row: SweepRow) -> dict[str, str]:
    return {
        "batch": str(row.batch_size),
        "p50": _between(row.p50_ms, latency),
        "p95": _between(row.p95_ms, latency) if row.p95_ms else "",
        "items/s": _between(row.items_per_s, rate),
        "per item more": latency(row.marginal_ms) if row.marginal_ms is not None else "",
        "on the line": latency(row.fitted_ms) if row.fitted_ms is not None else "",
    }


def _between(figure: Interval, text: Callable[[float], str]) -> str:
    bounds = [text(bound) for bound in (figure.low, figure.high) if bound is not None]
    return f"{text(figure.value)} ({' to '.join(bounds)})" if len(bounds) == 2 else text(figure.value)


def _lines(one: Sweep) -> list[str]:
    fit = one.curve.fit
    lines = []
    if fit is not None:
        quality = f", R² {fit.r_squared:.3f}" if fit.r_squared is not None else ""
        lines.append(
            f"call time = {latency(fit.fixed_ms)} + {latency(fit.per_item_ms)} per item{quality}, "
            f"misses by {fit.max_residual:.0%} at most; used: {one.uses}"
        )
        lines.append(f"one more item costs {latency(one.marginal_ms)}")
        flat = f"flattens at batch {one.flattens_at}" if one.flattens_at else "still rises at the largest batch"
        lines.append(f"throughput {flat}")
    if one.one_call is not None:
        lines.append(
            f"{one.one_call.n_items} candidates in one call against {one.one_call.n_items} calls: "
            f"{one.one_call.ratio:.1f}x sooner ({one.one_call.how})"
        )
    if one.p95_budget_ms is not None:
        found = one.largest_within_budget
        lines.append(
            f"largest batch with p95 within {latency(one.p95_budget_ms)}: "
            + (str(found) if found else "none that was measured")
        )
    return lines
