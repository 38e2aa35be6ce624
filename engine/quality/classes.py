"""Recall, precision and F1 of every class, of both models; of several labels at once also ROC AUC and calibration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from engine.quality import metrics
from engine.quality.calibration import label_errors
from engine.quality.judged import Judged
from engine.quality.slices import class_name
from engine.records import ClassFigure

MOST_CLASSES = 100


def class_figures(judged: Judged, classes: Sequence[str] | None) -> tuple[ClassFigure, ...]:
    """One figure per class among the labels, at most 100 classes: then the largest."""
    if judged.labels.ndim == 2:
        return _label_figures(judged, classes)
    before, after, labels = judged.baseline.predicted, judged.candidate.predicted, judged.labels
    assert before is not None
    assert after is not None
    n_classes = int(max(labels.max(), before.max(), after.max())) + 1
    n_rows = np.bincount(labels, minlength=n_classes)
    of_class = np.bincount(labels, judged.weights, n_classes)
    said = [np.bincount(predicted, judged.weights, n_classes) for predicted in (before, after)]
    right = [
        np.bincount(labels[predicted == labels], _chosen(judged.weights, predicted == labels), n_classes)
        for predicted in (before, after)
    ]
    shown = np.sort(np.argsort(-n_rows, kind="stable")[:MOST_CLASSES])
    return tuple(
        ClassFigure(
            name=class_name(int(one), classes),
            n_rows=int(n_rows[one]),
            recall=(_share(right[0][one], of_class[one]), _share(right[1][one], of_class[one])),
            precision=(_share(right[0][one], said[0][one]), _share(right[1][one], said[1][one])),
            f1=(
                _share(2 * right[0][one], said[0][one] + of_class[one]),
                _share(2 * right[1][one], said[1][one] + of_class[one]),
            ),
        )
        for one in shown
        if n_rows[one]
    )


def _label_figures(judged: Judged, classes: Sequence[str] | None) -> tuple[ClassFigure, ...]:
    """One figure per label, at most the 100 that most rows have."""
    n_rows = (judged.labels == 1).sum(axis=0)
    shown = np.sort(np.argsort(-n_rows, kind="stable")[:MOST_CLASSES])
    return tuple(_label_figure(judged.label(int(at)), class_name(int(at), classes)) for at in shown)


def _label_figure(one: Judged, name: str) -> ClassFigure:
    w = np.ones(len(one.labels)) if one.weights is None else one.weights
    has = one.labels == 1
    areas = metrics.lose("roc_auc", one.rows("roc_auc"), alpha=0.05, bounded=False)
    sums = []
    for answers in (one.baseline, one.candidate):
        assert answers.predicted is not None
        said = answers.predicted == 1
        sums.append([float(w[rows].sum()) for rows in (has & said, said, has)])
    return ClassFigure(
        name=name,
        n_rows=int(has.sum()),
        recall=_pair(_share(right, of_label) for right, _, of_label in sums),
        precision=_pair(_share(right, said) for right, said, _ in sums),
        f1=_pair(_share(2 * right, said + of_label) for right, said, of_label in sums),
        roc_auc=(areas.baseline, areas.candidate),
        calibration_error=label_errors(one),
    )


def _pair(values: Iterable[float | None]) -> tuple[float | None, float | None]:
    before, after = values
    return before, after


def _chosen(weights: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if weights is None else weights[rows]


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole > 0 else None
