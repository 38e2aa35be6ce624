"""A quality curve in words and as a table."""

from __future__ import annotations

from collections.abc import Iterator

from engine.records import METRICS
from engine.records.curve import CurvePoint, QualityCurve
from engine.reports import numbers
from engine.reports.feature_cost import FeatureCosts

NOT_KNOWN = "What fewer features save in fetching is not known: say what each fetch costs."


def curve_lines(curve: QualityCurve) -> list[str]:
    """Where it flattens, and from where on the promise is kept; what was done is the last."""
    whole = curve.points[-1].size
    lines = []
    if curve.flattens_at is not None and curve.flattens_at < whole:
        lines.append(
            f"It flattens at {curve.flattens_at:,} of {whole:,} {curve.over}: from there on no loss can be told apart "
            f"from none on {curve.n_rows:,} selection rows."
        )
    elif curve.flattens_at is not None:
        lines.append(f"It does not flatten: fewer than {whole:,} {curve.over} lose something at every size.")
    allowed = numbers.loss_amount(curve.max_drop, relative=curve.relative)
    if curve.within_band_at is not None:
        lines.append(f"At most {allowed} are lost, as the promise allows, from {curve.within_band_at:,} on.")
    return [*lines, curve.how]


def curve_records(curve: QualityCurve, costs: FeatureCosts | None = None) -> list[dict[str, object]]:
    """One record per size with all digits; drops in points, or in per cent where they are shares."""
    unit = "%" if curve.relative else "points"
    records = []
    for point in curve.points:
        drop = point.drop
        record: dict[str, object] = {
            curve.over.capitalize(): point.size,
            METRICS[curve.metric].title: point.value,
            f"Lost, {unit}": None if drop is None else drop.value * 100,
            f"Lost at least, {unit}": None if drop is None or drop.low is None else drop.low * 100,
            f"Lost at most, {unit}": None if drop is None or drop.high is None else drop.high * 100,
        }
        if costs is not None:
            saved = costs.saved(curve.order[: point.size], curve.order)
            record |= {"Fetch time saved, ms": saved.ms, "Price saved": saved.price}
        if curve.over == "features":
            record["Last one in"] = curve.order[point.size - 1]
        records.append(record)
    return records


def marks(curve: QualityCurve, point: CurvePoint) -> Iterator[str]:
    """What is to be said about this size."""
    if point.size == curve.points[-1].size:
        yield "the original"
    elif point.size == curve.flattens_at:
        yield "flattens here"
    if point.size == curve.within_band_at and point.size != curve.points[-1].size:
        yield "within the promise from here"
