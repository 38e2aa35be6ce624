"""The comparison table of a study: one row per experiment, the baseline first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.records import Choice, Comparison, Experiment, Measurement, QualityReport, Recipe, Study
from engine.reports.money import cost_per_1k
from engine.reports.promise import standing
from engine.reports.rows import COLUMNS, CompareRow

__all__ = ["COLUMNS", "CompareRow", "choice_text", "compare_rows", "recipe_text"]

EXPORT_LEVER = "export.torch_to_onnx"
EXPORT_RUNTIME = "onnxruntime_cpu"
QUANTILE: dict[str, float | None] = {"p50": 0.5, "p99": 0.99, "cost": None}  # what a goal is judged by
COVERED = frozenset({"within band", "outside", "pass", "fail", "not certified"})


def recipe_text(recipe: Recipe) -> str:
    """A chain in words: pruning.fewer_trees(keep_fraction=0.33) → export.lightgbm_to_onnx; "original" when empty."""
    return " → ".join(_with_params(step.lever, step.params) for step in recipe.steps) or "original"


def choice_text(choice: Choice) -> str:
    """A runtime in words: onnxruntime_cpu, or with its parameters in brackets."""
    return _with_params(choice.name, choice.params)


def compare_rows(study: Study, experiments: Sequence[Experiment], batch_size: int | None = None) -> list[CompareRow]:
    """One row per experiment of a study at one batch size (default: the primary one), baseline first, then by age.

    Failed and waiting ones keep their row; the reason says what failed, or what a variant lacks for the promise. Of
    several baselines the newest that succeeded leads.
    """
    batch = batch_size or study.workload.batch_size
    ordered = sorted(experiments, key=lambda one: one.id)
    lead = _baseline(ordered)
    plain = _plain_export(ordered, lead)
    plain_speedup = None if plain is None else _speedup(plain, batch)
    others = [one for one in ordered if one is not lead]
    first = [] if lead is None else [_baseline_row(study, lead, others, batch, plain_speedup)]
    return first + [_variant_row(study, one, batch, plain_speedup) for one in others]


def _baseline(ordered: Sequence[Experiment]) -> Experiment | None:
    candidates = [one for one in ordered if one.is_baseline]
    finished = [one for one in candidates if one.status == "succeeded"]
    return next(reversed(finished or candidates), None)


def _plain_export(ordered: Sequence[Experiment], lead: Experiment | None) -> Experiment | None:
    """The row that every torch study gets by itself: ONNX and nothing else, so the first of its kind."""
    if lead is None or lead.artefact is None or lead.artefact.format != "torch_export":
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
    study: Study, lead: Experiment, others: Sequence[Experiment], batch: int, plain_speedup: float | None
) -> CompareRow:
    """The original. A batch it was not run at alone is filled from a run where it was timed beside a variant."""
    beside = [measured for one in reversed(others) for measured in one.baselines]
    at_batch = _at(lead.measurements, batch) or _at(beside, batch)
    at_primary = _at(lead.measurements, study.workload.batch_size) or _at(beside, study.workload.batch_size)
    values: dict[str, Any] = {
        **_about(lead, batch),
        **_times(at_batch),
        "cost_per_1k": cost_per_1k(study.price_per_hour, at_primary.items_per_s if at_primary else None),
        "is_baseline": True,
        "reason": lead.error.message if lead.error else None,
    }
    if lead.status == "succeeded":
        values["speedup"] = 1.0
        values["speedup_vs_export"] = None if plain_speedup is None else 1.0 / plain_speedup
    return CompareRow(**values, **_quality(lead.quality))


def _variant_row(study: Study, one: Experiment, batch: int, plain_speedup: float | None) -> CompareRow:
    at_primary = _at(one.measurements, study.workload.batch_size)
    values: dict[str, Any] = {
        **_about(one, batch),
        **_times(_at(one.measurements, batch)),
        **_speed(_comparison(one, batch, 0.5)),
        **_goal(study, one),
        "cost_per_1k": cost_per_1k(study.price_per_hour, at_primary.items_per_s if at_primary else None),
        "quality_reason": one.quality.reason if one.quality else None,
    }
    if plain_speedup is not None and values["speedup"] is not None:
        values["speedup_vs_export"] = values["speedup"] / plain_speedup
    row = CompareRow(**values, **_quality(one.quality))
    stands = standing(study, row)
    reason = stands.shortfall if stands else one.error.message if one.error else None
    return row.model_copy(update={"reason": reason})


def _about(one: Experiment, batch: int) -> dict[str, Any]:
    return {
        "experiment": one.id,
        "recipe": recipe_text(one.spec.recipe),
        "runtime": choice_text(one.spec.runtime),
        "device": one.device,
        "status": one.status,
        "batch_size": batch,
        "size_bytes": one.artefact.size_bytes if one.artefact else None,
    }


def _times(measured: Measurement | None) -> dict[str, Any]:
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


def _goal(study: Study, one: Experiment) -> dict[str, Any]:
    """The speed-up in the quantity that the goal names, at the primary batch; or why there is none."""
    kind, primary = study.promise.goal.kind, study.workload.batch_size
    compared = _comparison(one, primary, QUANTILE[kind])
    if compared is not None:
        return {"goal_speedup": 1 / compared.ratio, "goal_speedup_low": 1 / compared.high}
    measured = _at(one.measurements, primary)
    if measured is None:
        return {"goal_note": f"not measured at batch {primary}, where the goal is set"}
    n_calls, n_pairs = measured.n_calls, measured.n_pairs
    return {"goal_note": f"{kind} not available: {n_calls:,} calls in {n_pairs} pairs are too few; use a longer preset"}


def _quality(report: QualityReport | None) -> dict[str, Any]:
    if report is None:
        return {}
    covered = [one for one in report.slices if one.verdict in COVERED and one.drop is not None]
    worst = max(covered, key=lambda one: one.drop or 0.0, default=None)
    return {
        "metric": report.metric,
        "metric_value": report.candidate,
        "metric_drop": report.drop,
        "worst_slice": f"{worst.column} = {worst.value}" if worst else None,
        "worst_slice_drop": worst.drop if worst else None,
        "quality_verdict": report.verdict,
    }


def _at(measurements: Sequence[Measurement], batch: int) -> Measurement | None:
    return next((one for one in measurements if one.workload.batch_size == batch), None)


def _comparison(one: Experiment, batch: int, quantile: float | None) -> Comparison | None:
    found = (each for each in one.comparisons if each.workload.batch_size == batch and each.quantile == quantile)
    return next(found, None)


def _speedup(one: Experiment, batch: int) -> float | None:
    compared = _comparison(one, batch, 0.5)
    return None if compared is None else 1 / compared.ratio


def _with_params(name: str, params: dict[str, Any]) -> str:
    listed = ", ".join(f"{key}={_value(value)}" for key, value in params.items())
    return f"{name}({listed})" if listed else name


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return "[" + " ".join(str(part) for part in value) + "]"
    return str(value)
