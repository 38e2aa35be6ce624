"""Recall, precision and F1 of every class, of both models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.quality.judged import Judged
from engine.quality.slices import class_name
from engine.records import ClassFigure

MOST_CLASSES = 100


def class_figures(judged: Judged, classes: Sequence[str] | None) -> tuple[ClassFigure, ...]:
    """One figure per class among the labels, at most 100 classes: then the largest."""
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


def _chosen(weights: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if weights is None else weights[rows]


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole > 0 else None
