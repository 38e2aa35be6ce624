"""Judge one candidate against the original on the rows of one split: overall, per slice, per class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from engine.quality import metrics
from engine.quality.agreement import agreement
from engine.quality.answers import CLASS_TASKS, Answers, Compared, compare
from engine.quality.calibration import calibration
from engine.quality.classes import class_figures
from engine.quality.found import Column, find_slices, row_losses
from engine.quality.harm import holm
from engine.quality.judged import Judged, known_rows
from engine.quality.retrieval import same_neighbour
from engine.quality.ruling import Referee, together
from engine.quality.slices import LABEL_COLUMN, LEAST_RESAMPLED, class_name, class_slices, declared_slices, n_min
from engine.records import (
    METRICS,
    Band,
    FoundSlice,
    Metric,
    MetricFigure,
    OutputKind,
    QualityReport,
    QualityVerdict,
    Signature,
    SliceQuality,
    SplitName,
    Task,
)


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
    certifying: bool = False,
    alpha: float | None = None,
    gate_passed: bool = True,
    columns: Callable[[], Mapping[str, Column]] | None = None,
) -> QualityReport:
    """The candidate's quality beside the original's.

    baseline_output, candidate_output: (n, ...) the judged output of both, same rows and order. labels: (n,) class
    index or value, -1 or NaN where unknown: such rows count for agreement only; several labels: (n, k) of 0 and 1.
    rows: n rows; uses "weight", "group" and "slice:<name>" where they exist. On selection rows the verdict compares the
    drop with the limit; certifying compares its upper bound at `alpha` (default: the band's). Identical answers are
    exact where the gate was passed. columns: gives the (n,) columns in which slices nobody declared are looked for,
    asked only when something is lost.
    Raises BadInput when the original cannot be judged, ParityFailed when the rows of both do not match.
    """
    task: Task = signature.task or "other"
    kind: OutputKind = signature.output_kind or "value"
    metric = band.metric
    alpha = band.alpha if alpha is None else alpha
    found = compare(baseline_output, candidate_output, labels, kind, task)
    about: dict[str, Any] = {
        "split": split,
        "metric": metric,
        "relative": band.relative or metrics.is_relative(metric),
        "alpha": None if metric is None else alpha,
        "agreement": agreement(found, labels if task in CLASS_TASKS else None),
    }
    n_rows = len(baseline_output)
    if found.problem is not None:
        return _without_values(about, "fail" if certifying else "outside", found.problem, n_rows)
    if metric is None:
        return _without_values(about, "not judged", "no metric: agreement and timing only", n_rows)
    metrics.check_fits(metric, task)
    known = known_rows(labels, metric, n_rows)
    if not known.any():
        return _without_values(about, "not judged", f"no row of the {split} split has a label", n_rows)
    if metric == "retrieval_agreement":
        found = _with_neighbours(found, baseline_output, candidate_output, seed)
    whole = Judged.of(found, labels, rows, known, task, band)
    referee = Referee(metric, alpha, about["relative"], found.identical and gate_passed, seed, certifying)
    slices = _slices(referee, whole, rows[known], signature, band)
    judged = whole.rows(metric)
    lost, verdict, reason = referee.rule(judged, band.max_drop)
    verdict, reason = together(metric, verdict, reason, slices, require_all=band.require_all_slices)
    return QualityReport(
        **about,
        baseline=lost.baseline,
        candidate=lost.candidate,
        drop=lost.drop,
        bound=lost.bound,
        verdict=verdict,
        reason=reason,
        slices=slices,
        n_rows=len(judged),
        n_groups=None if judged.units is None else judged.n_units,
        **_figures(whole, signature, metric, seed),
        found=_found(whole, known, metric, band, alpha, columns, seed),
    )


def _without_values(about: dict[str, Any], verdict: QualityVerdict, reason: str, n_rows: int) -> QualityReport:
    return QualityReport(
        **about, baseline=None, candidate=None, drop=None, bound=None, verdict=verdict, reason=reason, n_rows=n_rows
    )


def _with_neighbours(found: Compared, baseline: np.ndarray, candidate: np.ndarray, seed: int) -> Compared:
    """Embeddings have no label: a row is right when its nearest neighbour is the baseline's."""
    same = same_neighbour(baseline, candidate, seed)
    return replace(found, baseline=Answers(score=np.ones(len(same), bool)), candidate=Answers(score=same))


def _slices(
    referee: Referee, whole: Judged, rows: pd.DataFrame, signature: Signature, band: Band
) -> tuple[SliceQuality, ...]:
    """Declared slices, and every class: the rows of a true one where the metric can judge them; or every label."""
    judged = whole.rows(referee.metric)
    parts = declared_slices(rows, band.slices)
    if signature.task != "multilabel" and METRICS[referee.metric].class_wise:
        parts = chain(parts, class_slices(whole.labels, signature.classes))
    found = [referee.slice(column, value, judged.of(mask), band.slice_max_drop) for column, value, mask in parts]
    if signature.task == "multilabel":
        found += _labels(referee, whole, signature, band)
    tested = [at for at, one in enumerate(found) if one.harm_p is not None]
    for at, p in zip(tested, holm([found[at].harm_p or 0.0 for at in tested]), strict=True):
        found[at] = found[at].model_copy(update={"harm_p": p})
    return tuple(found)


def _labels(referee: Referee, whole: Judged, signature: Signature, band: Band) -> Iterator[SliceQuality]:
    """Every label of several as a task of its own: all rows where the metric ranks them, else those that have it."""
    alone = replace(referee, metric=metrics.ONE_LABEL[referee.metric])
    for at in range(whole.labels.shape[1]):
        one = whole.label(at)
        rows = one.rows(alone.metric)
        if METRICS[alone.metric].class_wise:
            rows = rows.of(one.labels == 1)
        yield alone.slice(LABEL_COLUMN, class_name(at, signature.classes), rows, band.slice_max_drop)


def _figures(whole: Judged, signature: Signature, metric: Metric, seed: int) -> dict[str, Any]:
    """The other metrics of the task, class by class, and calibration: for information, without a verdict."""
    task = signature.task
    others: list[Metric] = [name for name, facts in METRICS.items() if task in facts.tasks and name != metric]
    found = ((name, metrics.lose(name, whole.rows(name), 0.05, seed, bounded=False)) for name in others)
    return {
        "figures": tuple(
            MetricFigure(metric=name, baseline=lost.baseline, candidate=lost.candidate) for name, lost in found
        ),
        "classes": class_figures(whole, signature.classes) if task in CLASS_TASKS else (),
        "calibration": calibration(whole, seed) if task in CLASS_TASKS else None,
    }


def _found(
    whole: Judged,
    known: np.ndarray,
    metric: Metric,
    band: Band,
    alpha: float,
    columns: Callable[[], Mapping[str, Column]] | None,
    seed: int,
) -> tuple[FoundSlice, ...]:
    losses = row_losses(whole, metric) if columns is not None else None
    least = n_min(band.slice_max_drop, alpha)
    if columns is None or losses is None or not losses.any() or least is None:
        return ()
    found = {name: (codes[known], values) for name, (codes, values) in columns().items()}
    return find_slices(found, losses, whole.units, least_rows=max(least, LEAST_RESAMPLED), seed=seed)
