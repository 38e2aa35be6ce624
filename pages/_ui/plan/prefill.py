"""What a study knows of a plan: how much the original and a variant serve, and what an hour costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.records import Comparison, ExperimentSummary, Interval, MeasurementSummary, Study, Workload
from engine.records.checked import checked
from engine.records.planning import Machine
from pages._ui import loaders
from pages._ui.standing import leaders
from pages._ui.text import shorten
from pages._ui.variants import name_of

ORIGINAL = "Original"
NAME = 60


@dataclass(frozen=True)
class Row:
    """One line of the price sheet; None: not filled in."""

    name: str
    requests_per_s: float | None = None
    low: float | None = None
    high: float | None = None
    price_per_hour: float | None = None

    @classmethod
    def of(cls, machine: Machine) -> Row:
        """A machine type that was written down."""
        rate = machine.requests_per_s
        return cls(machine.name, rate.value, rate.low, rate.high, machine.price_per_hour)


EXAMPLE = (Row("CPU", 50.0, None, None, 40.0), Row("GPU", 600.0, None, None, 250.0))


def from_study(study: Study, variant_id: str | None, seen: loaders.Seen) -> tuple[Row, ...]:
    """The original and one variant at the study's primary workload and price; nothing before the original is measured.

    The variant is the one that is asked for, else the best that keeps the promise. Its throughput is the original's
    over the ratio of the same process pairs, with the interval of that ratio.
    """
    runs = loaders.summaries(study.id, seen)
    lead = next((run for run in reversed(runs) if run.is_baseline and run.status == "succeeded"), None)
    measured = _at(lead.measurements, study.workload) if lead else None
    if measured is None:
        return ()
    rate = measured.items_per_s
    rows = [Row(ORIGINAL, rate, None, None, study.price_per_hour)]
    variant = _variant(study, runs, variant_id, seen)
    found = _mean_call(variant, study.workload) if variant else None
    if variant is not None and found is not None:
        name = shorten(name_of(variant), NAME)
        rows.append(Row(name, rate / found.ratio, rate / found.high, rate / found.low, study.price_per_hour))
    return tuple(rows)


def machines(rows: Sequence[Row]) -> list[Machine]:
    """The lines that are whole. Raises InvalidRequest for a value out of range."""
    return [
        checked(
            Machine,
            name=row.name,
            requests_per_s=Interval(value=row.requests_per_s, low=row.low, high=row.high),
            price_per_hour=row.price_per_hour,
        )
        for row in rows
        if row.name and row.requests_per_s is not None and row.price_per_hour is not None
    ]


def _variant(
    study: Study, runs: Sequence[ExperimentSummary], variant_id: str | None, seen: loaders.Seen
) -> ExperimentSummary | None:
    best = leaders(study.id, seen).best
    wanted = variant_id or (best.experiment if best else None)
    return next((run for run in runs if run.id == wanted and not run.is_baseline), None)


def _at(measurements: Sequence[MeasurementSummary], workload: Workload) -> MeasurementSummary | None:
    return next((one for one in measurements if one.workload == workload), None)


def _mean_call(run: ExperimentSummary, workload: Workload) -> Comparison | None:
    """Variant over original for the mean call, which throughput follows; else for the median."""
    here = {one.quantile: one for one in run.comparisons if one.workload == workload}
    return here.get(None) or here.get(0.5)
