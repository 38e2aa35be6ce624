"""The few figures of an experiment that lists show, kept beside the record so that a list parses no whole record."""

from __future__ import annotations

import math
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.records import Comparison, Experiment, ExperimentSpec, Measurement, QualityReport, Step, Study, Workload
from storage.schema import experiment, job, study


def summarise(run: Experiment, primary: Workload) -> dict[str, Any]:
    """One flat row: what was asked, and how it did at `primary` (else at the first workload). None: not measured."""
    workloads = [found.workload for found in run.measurements] or list(run.spec.workloads)
    shown = primary if primary in workloads else workloads[0] if workloads else primary
    measured = next((found for found in run.measurements if found.workload == shown), None)
    median = next((found for found in run.comparisons if found.workload == shown and found.quantile == 0.5), None)
    return {
        "recipe": describe_recipe(run.spec),
        "runtime": run.spec.runtime.name,
        "preset": run.spec.preset,
        "batch_size": shown.batch_size,
        "threads": shown.threads,
        "device": run.device,
        "artefact_id": run.artefact.id if run.artefact else None,
        "format": run.artefact.format if run.artefact else None,
        "size_bytes": run.artefact.size_bytes if run.artefact else None,
        **_speed(measured),
        **_speedup(median, run.status == "succeeded" and run.is_baseline),
        **_quality(run.quality),
    }


def describe_recipe(spec: ExperimentSpec) -> str:
    """The chain of levers in words: 'original' or 'pruning.fewer_trees(keep_fraction=0.5) → …'."""
    return " → ".join(_describe_step(step) for step in spec.recipe.steps) or "original"


def refill(connection: Connection) -> None:
    """Write the summaries that are missing, after a migration."""
    missing = connection.execute(sa.select(experiment.c.id).where(experiment.c.summary.is_(None))).scalars().all()
    workloads: dict[str, Workload] = {}
    for experiment_id in missing:
        row = connection.execute(
            sa.select(experiment, job.c.status).join(job).where(experiment.c.id == experiment_id)
        ).one()
        if row.study_id not in workloads:
            document = connection.execute(sa.select(study.c.document).where(study.c.id == row.study_id)).scalar_one()
            workloads[row.study_id] = Study.model_validate(document).workload
        document = row.document or {
            "id": row.id, "spec": row.spec, "status": row.status, "created_at": row.created_at
        }  # fmt: skip
        summary = summarise(Experiment.model_validate(document), workloads[row.study_id])
        connection.execute(experiment.update().where(experiment.c.id == row.id).values(summary=summary))


def _describe_step(step: Step) -> str:
    values = ", ".join(f"{name}={value}" for name, value in step.params.items())
    return f"{step.lever}({values})" if values else step.lever


def _speed(measured: Measurement | None) -> dict[str, Any]:
    return {
        "p50_ms": measured.p50_ms.value if measured else None,
        "p95_ms": measured.p95_ms.value if measured and measured.p95_ms else None,
        "p99_ms": measured.p99_ms.value if measured and measured.p99_ms else None,
        "items_per_s": measured.items_per_s if measured else None,
        "peak_bytes": measured.peak_bytes if measured else None,
    }


def _speedup(median: Comparison | None, is_baseline: bool) -> dict[str, Any]:
    """Baseline time / variant time: the ratio turned round, so its bounds change places."""
    if median is None:
        return {
            "speedup": 1.0 if is_baseline else None,
            "speedup_low": None,
            "speedup_high": None,
            "speed_verdict": None,
        }
    return {
        "speedup": _inverse(median.ratio),
        "speedup_low": _inverse(median.high),
        "speedup_high": _inverse(median.low),
        "speed_verdict": median.verdict,
    }


def _inverse(ratio: float) -> float | None:
    return 1 / ratio if ratio > 0 and math.isfinite(ratio) else None


def _quality(report: QualityReport | None) -> dict[str, Any]:
    judged = [found for found in report.slices if found.drop is not None] if report else []
    worst = max(judged, key=lambda found: found.drop or 0.0, default=None)
    return {
        "metric": report.metric if report else None,
        "metric_value": report.candidate if report else None,
        "metric_drop": report.drop if report else None,
        "quality_verdict": report.verdict if report else None,
        "worst_slice": f"{worst.column}={worst.value}" if worst else None,
        "worst_slice_drop": worst.drop if worst else None,
    }
