"""The comparison table of a study: one row per experiment, the baseline first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from engine.records import (
    TORCH_FORMATS,
    Choice,
    Comparison,
    ExperimentSummary,
    MeasurementSummary,
    QualitySummary,
    Recipe,
    Study,
    Workload,
)
from engine.reports.caveats import caveats, flag_difference
from engine.reports.money import cost_per_1k
from engine.reports.promise import standing
from engine.reports.rows import COLUMNS, CompareRow

__all__ = ["COLUMNS", "CompareRow", "choice_text", "compare_rows", "recipe_text"]

EXPORT_LEVER = "export.torch_to_onnx"
EXPORT_RUNTIME = "onnxruntime_cpu"
QUANTILE: dict[str, float | None] = {"p50": 0.5, "p99": 0.99, "cost": None}  # what a goal is judged by


def recipe_text(recipe: Recipe) -> str:
    """A chain in words: pruning.fewer_trees(keep_fraction=0.33) → export.lightgbm_to_onnx; "original" when empty."""
    return " → ".join(_with_params(step.lever, step.params) for step in recipe.steps) or "original"


def choice_text(choice: Choice) -> str:
    """A runtime in words: onnxruntime_cpu, or with its parameters in brackets."""
    return _with_params(choice.name, choice.params)


def compare_rows(study: Study, runs: Sequence[ExperimentSummary], batch_size: int | None = None) -> list[CompareRow]:
    """One row per experiment of a study at one batch size (default: the primary one), baseline first, then by age.

    Failed and waiting ones keep their row; the reason says what failed, what a variant lacks for the promise, or why
    it cannot be compared like the others. Figures are those of the study's threads. Of several baselines the newest
    that succeeded leads.
    """
    at = study.workload.model_copy(update={"batch_size": batch_size or study.workload.batch_size})
    ordered = sorted(runs, key=lambda one: one.id)
    lead = _baseline(ordered)
    plain = _plain_export(ordered, lead)
    others = [one for one in ordered if one is not lead]
    first = [] if lead is None else [_baseline_row(study, lead, others, at, plain)]
    return first + [_variant_row(study, one, lead, at, plain) for one in others]


def _baseline(ordered: Sequence[ExperimentSummary]) -> ExperimentSummary | None:
    candidates = [one for one in ordered if one.is_baseline]
    finished = [one for one in candidates if one.status == "succeeded"]
    return next(reversed(finished or candidates), None)


def _plain_export(ordered: Sequence[ExperimentSummary], lead: ExperimentSummary | None) -> ExperimentSummary | None:
    """The row that every torch study gets by itself: ONNX and nothing else, so the first of its kind."""
    if lead is None or lead.artefact is None or lead.artefact.format not in TORCH_FORMATS:
        return None
    found = [
        one
        for one in ordered
        if [step.lever for step in one.spec.recipe.steps] == [EXPORT_LEVER]
        and one.spec.runtime == Choice(name=EXPORT_RUNTIME)
        and one.status == "succeeded"
    ]
    return min(found, key=lambda one: one.id, default=None)


def _baseline_row(
    study: Study,
    lead: ExperimentSummary,
    others: Sequence[ExperimentSummary],
    at: Workload,
    plain: ExperimentSummary | None,
) -> CompareRow:
    """The original. A workload it was not run at alone is filled from a run where it was timed beside a variant."""
    at_workload, at_primary = (
        _at(lead.measurements, workload)
        or _at((beside for one in reversed(others) for beside in one.baselines), workload)
        for workload in (at, study.workload)
    )
    values: dict[str, Any] = {
        **_about(lead, at),
        **_times(at_workload),
        "cost_per_1k": cost_per_1k(study.price_per_hour, at_primary.items_per_s if at_primary else None),
        "is_baseline": True,
        "reason": lead.error.message if lead.error else None,
    }
    if lead.status == "succeeded":
        values["speedup"] = 1.0
        values["speedup_vs_export"] = _against(plain, lead, 1.0, at)
    return CompareRow(**values, **_quality(lead.quality))


def _variant_row(
    study: Study, one: ExperimentSummary, lead: ExperimentSummary | None, at: Workload, plain: ExperimentSummary | None
) -> CompareRow:
    at_primary = _at(one.measurements, study.workload)
    goal = _comparison(one, study.workload, QUANTILE[study.promise.goal.kind])
    values: dict[str, Any] = {
        **_about(one, at),
        **_times(_at(one.measurements, at)),
        **_speed(_comparison(one, at, 0.5)),
        **_goal(study, one, goal),
        "cost_per_1k": cost_per_1k(study.price_per_hour, at_primary.items_per_s if at_primary else None),
        "quality_reason": one.quality.reason if one.quality else None,
        "caveats": caveats(one, lead, goal),
    }
    if values["speedup"] is not None:
        values["speedup_vs_export"] = _against(plain, one, values["speedup"], at)
    row = CompareRow(**values, **_quality(one.quality))
    stands = standing(study, row)
    reason = stands.shortfall if stands else one.error.message if one.error else None
    return row.model_copy(update={"reason": "; ".join([*([reason] if reason else []), *row.caveats]) or None})


def _against(plain: ExperimentSummary | None, one: ExperimentSummary, speedup: float, at: Workload) -> float | None:
    """Speed-up over the plain export; None without one, or where the two ran on other CPU flags."""
    compared = None if plain is None else _comparison(plain, at, 0.5)
    if plain is None or compared is None or flag_difference(one, plain) is not None:
        return None
    return speedup * compared.ratio


def _about(one: ExperimentSummary, at: Workload) -> dict[str, Any]:
    return {
        "experiment": one.id,
        "recipe": recipe_text(one.spec.recipe),
        "runtime": choice_text(one.spec.runtime),
        "device": one.device,
        "status": one.status,
        "batch_size": at.batch_size,
        "size_bytes": one.artefact.size_bytes if one.artefact else None,
    }


def _times(measured: MeasurementSummary | None) -> dict[str, Any]:
    if measured is None:
        return {}
    return {
        "p50_ms": measured.p50_ms.value,
        "p95_ms": measured.p95_ms.value if measured.p95_ms else None,
        "p99_ms": measured.p99_ms.value if measured.p99_ms else None,
        "items_per_s": measured.items_per_s,
    }


def _speed(compared: Comparison | None) -> dict[str, Any]:
    if compared is None:
        return {"speedup": None}
    return {
        "speedup": 1 / compared.ratio,
        "speedup_low": 1 / compared.high,
        "speedup_high": 1 / compared.low,
        "speed_verdict": compared.verdict,
    }


def _goal(study: Study, one: ExperimentSummary, compared: Comparison | None) -> dict[str, Any]:
    """The speed-up in the quantity that the goal names, at the primary workload; or why there is none."""
    if compared is not None:
        return {"goal_speedup": 1 / compared.ratio, "goal_speedup_low": 1 / compared.high}
    primary, measured = study.workload, _at(one.measurements, study.workload)
    if measured is None:
        same_batch = any(each.workload.batch_size == primary.batch_size for each in one.measurements)
        threads = f" with {primary.threads} thread{'s' if primary.threads > 1 else ''}" if same_batch else ""
        return {"goal_note": f"not measured at batch {primary.batch_size}{threads}, where the goal is set"}
    kind, n_calls, n_pairs = study.promise.goal.kind, measured.n_calls, measured.n_pairs
    return {"goal_note": f"{kind} not available: {n_calls:,} calls in {n_pairs} pairs are too few; use a longer preset"}


def _quality(report: QualitySummary | None) -> dict[str, Any]:
    if report is None:
        return {}
    worst = report.worst_slice
    return {
        "metric": report.metric,
        "metric_value": report.candidate,
        "metric_drop": report.drop,
        "worst_slice": f"{worst.column} = {worst.value}" if worst else None,
        "worst_slice_drop": worst.drop if worst else None,
        "quality_verdict": report.verdict,
    }


def _at(measurements: Iterable[MeasurementSummary], at: Workload) -> MeasurementSummary | None:
    return next((one for one in measurements if one.workload == at), None)


def _comparison(one: ExperimentSummary, at: Workload, quantile: float | None) -> Comparison | None:
    return next((each for each in one.comparisons if each.workload == at and each.quantile == quantile), None)


def _with_params(name: str, params: dict[str, Any]) -> str:
    listed = ", ".join(f"{key}={_value(value)}" for key, value in params.items())
    return f"{name}({listed})" if listed else name


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return "[" + " ".join(str(part) for part in value) + "]"
    return str(value)
