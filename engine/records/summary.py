"""What lists, Overview, Compare and its exports need of an experiment: its shape without the bulk.

The names are those of `Experiment`, so that code which needs no more reads either. Stored beside the record when the
job ends; a page that lists thousands reads these and no whole record.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from engine.records.base import Record
from engine.records.experiment import Experiment, ExperimentSpec, Failure
from engine.records.models import Manifest
from engine.records.quality import QualityReport, SliceQuality
from engine.records.results import Comparison, Interval, Measurement
from engine.records.study import Workload
from engine.records.words import Metric, QualityVerdict, Status

COVERED: frozenset[QualityVerdict] = frozenset({"within band", "outside", "pass", "fail", "not certified"})


class ArtefactSummary(Record):
    """The files of a variant."""

    id: str
    format: str
    size_bytes: int


class MeasurementSummary(Record):
    """One arm at one workload; fields as in `Measurement`."""

    workload: Workload
    n_calls: int
    n_pairs: int
    p50_ms: Interval
    p95_ms: Interval | None = None
    p99_ms: Interval | None = None
    items_per_s: float
    cold_start_ms: float
    load_ms: float
    peak_bytes: int


class QualitySummary(Record):
    """Quality on all rows, and the slice that lost most; fields as in `QualityReport`."""

    metric: Metric | None = None
    relative: bool = False
    baseline: float | None = None
    candidate: float | None = None
    drop: float | None = None
    bound: float | None = None
    verdict: QualityVerdict
    reason: str | None = None
    n_rows: int
    worst_slice: SliceQuality | None = Field(None, description="Of those that have rows enough for a verdict.")
    flip_fraction: float | None = None
    identical: bool = False


class ExperimentSummary(Record):
    """One run, light: as it stands, what was asked, and the figures that are compared."""

    id: str
    spec: ExperimentSpec
    status: Status
    created_at: datetime
    created_by: str = "local"
    attempt: int = 0
    duration_s: float | None = None
    device: str = "cpu"
    processor: str | None = Field(None, description="None: the run did not record its machine.")
    cpu_flags: tuple[str, ...] = ()
    artefact: ArtefactSummary | None = None
    compressed_bytes: int | None = None
    auto_batch_size: int | None = None
    measurements: tuple[MeasurementSummary, ...] = ()
    baselines: tuple[MeasurementSummary, ...] = Field((), description="The original, timed in the same pairs.")
    comparisons: tuple[Comparison, ...] = ()
    quality: QualitySummary | None = None
    error: Failure | None = None
    retry_of: str | None = None

    @property
    def study_id(self) -> str:
        """The study it belongs to."""
        return self.spec.study_id

    @property
    def is_baseline(self) -> bool:
        """As of the whole record: the original on its reference runtime."""
        return not self.spec.recipe.steps and not self.comparisons


def summary_of(run: Experiment) -> ExperimentSummary:
    """The light record of a whole one."""
    return ExperimentSummary(
        **{name: getattr(run, name) for name in _SAME},
        processor=_text(run.environment.get("processor")),
        cpu_flags=tuple(sorted(run.environment.get("cpu_flags") or ())),
        artefact=_artefact(run.artefact),
        measurements=tuple(_measured(one) for one in run.measurements),
        baselines=tuple(_measured(one) for one in run.baselines),
        quality=_quality(run.quality),
    )


_SAME = ExperimentSummary.model_fields.keys() & Experiment.model_fields.keys() - {
    "artefact", "measurements", "baselines", "quality",
}  # fmt: skip


def _text(value: object) -> str | None:
    return str(value) if value else None


def _artefact(found: Manifest | None) -> ArtefactSummary | None:
    return None if found is None else ArtefactSummary(**_picked(ArtefactSummary, found))


def _measured(found: Measurement) -> MeasurementSummary:
    return MeasurementSummary(**_picked(MeasurementSummary, found))


def _quality(report: QualityReport | None) -> QualitySummary | None:
    if report is None:
        return None
    covered = [one for one in report.slices if one.verdict in COVERED and one.drop is not None]
    return QualitySummary(
        **_picked(QualitySummary, report),
        worst_slice=max(covered, key=lambda one: one.drop or 0.0, default=None),
        flip_fraction=report.agreement.flip_fraction,
        identical=report.agreement.identical,
    )


def _picked(cls: type[Record], found: Record) -> dict[str, Any]:
    """The fields that both records have."""
    return {name: getattr(found, name) for name in cls.model_fields if name in type(found).model_fields}
