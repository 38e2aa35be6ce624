"""Judge one candidate against the original on the rows of one split: overall, per slice, per class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from engine.errors import BadData, BadInput, ParityFailed
from engine.quality import metrics
from engine.quality.agreement import agreement
from engine.quality.loss import Rows
from engine.quality.ruling import Referee, together
from engine.quality.scores import non_finite_rows, non_finite_sentence, to_scores
from engine.quality.slices import class_slices, declared_slices
from engine.records import (
    Band,
    Metric,
    OutputKind,
    QualityReport,
    QualityVerdict,
    Signature,
    SplitName,
    Task,
)

TINY = 1e-12  # a drop that equals its limit is inside


def judge(
    split: SplitName,
    baseline_output: np.ndarray,
    candidate_output: np.ndarray,
    labels: np.ndarray | None,
    rows: pd.DataFrame,
    signature: Signature,
    band: Band,
    *,
    seed: int = 0,
) -> QualityReport:
    """The candidate's quality beside the original's.

    baseline_output, candidate_output: (n, ...) the judged output of both, same rows and order. labels: (n,) class
    index or value, -1 or NaN where unknown: such rows count for agreement only. rows: n rows; uses "weight", "group"
    and "slice:<name>" where they exist. The verdict compares the drop with the limit: this is the selection split,
    where `bound` says what the rows could not exclude; only certification turns the bound into a verdict.
    Raises BadInput when the original cannot be judged, ParityFailed when the rows of both do not match.
    """
    task: Task = signature.task or "other"
    kind: OutputKind = signature.output_kind or "value"
    metric = band.metric
    if len(baseline_output) != len(candidate_output):
        raise ParityFailed(f"the candidate answered {len(candidate_output):,} of {len(baseline_output):,} rows")
    baseline = to_scores(baseline_output, kind, task)
    finite = ~non_finite_rows(candidate_output)
    candidate, problem = _candidate(candidate_output, finite, kind, task, baseline)
    identical = np.array_equal(baseline_output, candidate_output)
    about: dict[str, Any] = {
        "split": split,
        "metric": metric,
        "relative": band.relative or metrics.is_relative(metric),
        "agreement": agreement(baseline[finite][: len(candidate)], candidate, task, identical=identical),
    }
    if problem is not None:
        return _without_values(about, "outside", problem, len(baseline))
    if metric is None:
        return _without_values(about, "not judged", "no metric: agreement and timing only", len(baseline))
    metrics.check_fits(metric, task)
    known = _known(labels, metric, len(baseline))
    if not known.any():
        return _without_values(about, "not judged", f"no row of the {split} split has a label", len(baseline))
    judged = _rows(baseline, candidate, labels, rows, metric, seed).of(known)
    parts = list(declared_slices(rows[known], band.slices))
    if metric == "accuracy":
        parts += class_slices(_labels(judged), signature.classes)
    referee = Referee(metric, band.alpha, about["relative"], identical, seed)
    slices = tuple(referee.slice(name, value, judged.of(mask), band.slice_max_drop) for name, value, mask in parts)
    found, verdict, reason = referee.rule(judged, band.max_drop)
    verdict, reason = together(metric, verdict, reason, slices, require_all=band.require_all_slices)
    return QualityReport(
        **about,
        baseline=found.baseline,
        candidate=found.candidate,
        drop=found.drop,
        bound=found.bound,
        verdict=verdict,
        reason=reason,
        slices=slices,
        n_rows=len(judged),
    )


def _without_values(about: dict[str, Any], verdict: QualityVerdict, reason: str, n_rows: int) -> QualityReport:
    return QualityReport(
        **about, baseline=None, candidate=None, drop=None, bound=None, verdict=verdict, reason=reason, n_rows=n_rows
    )


def _candidate(
    output: np.ndarray, finite: np.ndarray, kind: OutputKind, task: Task, baseline: np.ndarray
) -> tuple[np.ndarray, str | None]:
    """Scores of the finite rows (of no row when they are no scores at all), and what is wrong with the output."""
    problem = None if finite.all() else non_finite_sentence(output)
    try:
        scores = to_scores(output if problem is None else output[finite], kind, task)
    except BadInput as error:
        return baseline[:0], problem or str(error)
    if scores.shape[1:] != baseline.shape[1:]:
        raise ParityFailed(f"the candidate's scores have the shape {scores.shape}, the original's {baseline.shape}")
    return scores, problem


def _known(labels: np.ndarray | None, metric: Metric, n_rows: int) -> np.ndarray:
    if metric in metrics.NEEDS_NO_LABEL:
        return np.ones(n_rows, bool)
    if labels is None:
        return np.zeros(n_rows, bool)
    return ~np.isnan(labels) if labels.dtype.kind == "f" else labels >= 0


def _rows(
    baseline: np.ndarray,
    candidate: np.ndarray,
    labels: np.ndarray | None,
    rows: pd.DataFrame,
    metric: Metric,
    seed: int,
) -> Rows:
    weights = rows["weight"].to_numpy(np.float64) if "weight" in rows else None
    if weights is not None and not (weights >= 0).all():
        bad = ~(weights >= 0)
        raise BadData(
            f"weights must be 0 or more; {int(bad.sum()):,} rows are not "
            f"(first: row {int(bad.argmax()) + 1} of the split, {weights[bad][0]:g})"
        )
    if metric == "ndcg_at_10" and "group" not in rows:
        raise BadData("NDCG is judged per query: give one column the role group")
    if labels is not None and metric in ("roc_auc", "accuracy"):
        n_classes = 2 if baseline.ndim == 1 else baseline.shape[1]
        if labels.max(initial=-1) >= n_classes:
            raise BadData(f"a label has the class index {int(labels.max())}; the model has {n_classes} classes")
    return Rows(
        baseline=baseline,
        candidate=candidate,
        labels=None if metric in metrics.NEEDS_NO_LABEL else labels,
        weights=weights,
        groups=rows["group"].to_numpy() if metric == "ndcg_at_10" else None,
        same=metrics.same_neighbour(baseline, candidate, seed) if metric == "retrieval_agreement" else None,
    )


def _labels(rows: Rows) -> np.ndarray:
    assert rows.labels is not None
    return rows.labels
