"""`curve`: quality by number of trees or of features, before anything is built."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, get_args

import click

from engine.cli.door import door, say_json, say_table
from engine.errors import InvalidRequest
from engine.records import Interval
from engine.records.curve import CurvePoint, Over, QualityCurve
from engine.reports.feature_cost import FeatureCosts, read_costs
from engine.reports.numbers import latency, significant

NOT_KNOWN = "fetch time unknown: --feature-cost FILE (CSV: feature, group, ms, price) says what fewer features save"


@click.command("curve")
@click.argument("study_ref", metavar="STUDY")
@click.argument("over", type=click.Choice(get_args(Over)))
@click.option(
    "--feature-cost",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="CSV with the columns feature, group, ms, price: what fetching costs.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="For the rows that features are judged on.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(study_ref: str, over: Over, feature_cost: Path | None, seed: int, as_json: bool) -> None:
    """Show how quality goes with fewer trees, or with fewer features, and where it flattens."""
    from engine.curve import quality_curve

    if feature_cost and over != "features":
        raise InvalidRequest("--feature-cost belongs to `curve STUDY features`")
    costs = read_costs(feature_cost) if feature_cost else None
    with door() as opened:
        study = opened.ledger.study(study_ref)
        curve = quality_curve(study, opened.workspace, over, seed=seed, progress=_tell)
    _tell(1.0, "")
    if as_json:
        saved = {"saved": [_saved_numbers(point, curve, costs) for point in curve.points]} if costs else {}
        say_json(curve.model_dump(mode="json") | saved)
        return
    say_table([_row(point, curve, costs) for point in curve.points], "no sizes")
    click.echo("\n".join(["", *_lines(curve, costs)]))


def _tell(fraction: float, text: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{f'{fraction:4.0%} {text[:70]}' if text else ''}", err=True, nl=False)


def _row(point: CurvePoint, curve: QualityCurve, costs: FeatureCosts | None) -> dict[str, Any]:
    row = {
        curve.over: f"{point.size:,}",
        curve.metric: "" if point.value is None else significant(point.value, 5),
        "lost": "" if point.drop is None else _lost(point.drop.value, curve.relative),
        "95 % interval": "" if point.drop is None else _between(point.drop, curve.relative),
    }
    if costs is not None:
        saved = costs.saved(curve.order[: point.size], curve.order)
        row |= {"fetch time saved": latency(saved.ms), "price saved": significant(saved.price)}
    if curve.over == "features":
        row["the last one in"] = curve.order[point.size - 1]
    return row


def _lost(value: float, relative: bool) -> str:
    return f"{value:+.2%}" if relative else f"{value:+.5f}"


def _between(drop: Interval, relative: bool) -> str:
    bounds = [_lost(bound, relative) for bound in (drop.low, drop.high) if bound is not None]
    return " to ".join(bounds) if len(bounds) == 2 else ""


def _lines(curve: QualityCurve, costs: FeatureCosts | None) -> list[str]:
    whole = curve.points[-1].size
    lines = [curve.how]
    if curve.flattens_at is not None:
        lines.append(
            f"It flattens at {curve.flattens_at:,} of {whole:,}: from there on no loss can be told apart from none "
            f"on {curve.n_rows:,} rows."
        )
    if curve.within_band_at is not None:
        lines.append(
            f"Within the promise (at most {_lost(curve.max_drop, curve.relative).lstrip('+')} lost) from "
            f"{curve.within_band_at:,} on."
        )
    if curve.over == "features" and costs is None:
        lines.append(NOT_KNOWN)
    if costs is not None and (unknown := costs.unknown(curve.order)):
        lines.append(f"Not in the file, so their fetch time is unknown: {', '.join(unknown)}")
    return lines


def _saved_numbers(point: CurvePoint, curve: QualityCurve, costs: FeatureCosts) -> dict[str, float]:
    saved = costs.saved(curve.order[: point.size], curve.order)
    return {"size": point.size, "ms": saved.ms, "price": saved.price}
