"""Which groups of rows are judged on their own, and from how many rows on that means anything."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from engine.errors import BadData
from engine.records import Metric

CLASS_COLUMN = "true class"
LABEL_COLUMN = "true label"  # of several at once
PREFIX = "slice:"
EXACT_COUNTS: frozenset[Metric] = frozenset(  # Tango's bound needs no more rows
    {"accuracy", "subset_accuracy", "retrieval_agreement"}
)
TWO_CLASSES: frozenset[Metric] = frozenset({"roc_auc", "macro_roc_auc", "pr_auc", "f1"})
LEAST_RESAMPLED = 100
LEAST_PER_CLASS = 30
LEAST_GROUPS = 30


def slice_texts(rows: pd.DataFrame, column: str) -> tuple[np.ndarray, list[str]]:
    """(n,) position of each row's value among the sorted values of a slice column; a blank is "(missing)".

    rows: holds a text column "slice:<column>". Raises BadData when it is not there.
    """
    if PREFIX + column not in rows:
        known = ", ".join(str(name)[len(PREFIX) :] for name in rows if str(name).startswith(PREFIX)) or "none"
        raise BadData(f"the slice column {column!r} is not in the evaluation set; it has {known}")
    codes, found = pd.factorize(rows[PREFIX + column])
    texts = ["(missing)", *("(missing)" if text == "" else str(text) for text in found)]  # a blank has the code -1
    values = sorted(set(texts))
    return np.array([values.index(text) for text in texts])[codes + 1], values


def declared_slices(rows: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[str, str, np.ndarray]]:
    """(column, value, (n,) bool) for every value that the declared slice columns have in these rows."""
    for column in columns:
        codes, values = slice_texts(rows, column)
        for at in np.unique(codes):
            yield column, values[at], codes == at


def class_slices(labels: np.ndarray, classes: Sequence[str] | None) -> Iterator[tuple[str, str, np.ndarray]]:
    """("true class", name, (n,) bool) for every class among the labels: accuracy there is the class's recall."""
    for index in np.unique(labels):
        yield CLASS_COLUMN, class_name(int(index), classes), labels == index


def class_name(index: int, classes: Sequence[str] | None) -> str:
    """The name of a class, or its number where it has none."""
    return classes[index] if classes is not None and 0 <= index < len(classes) else str(index)


def n_min(margin: float, alpha: float = 0.05) -> int | None:
    """Rows from which no lost row at all excludes a loss of `margin`: ⌈ln α / ln(1 - δ)⌉. None for a margin of 0."""
    if margin <= 0.0:
        return None
    return 1 if margin >= 1.0 else math.ceil(math.log(alpha) / math.log1p(-margin))


def least_rows(metric: Metric, margin: float, alpha: float) -> int | None:
    """Rows (queries for NDCG) below which a verdict on `metric` means nothing. None: no number of rows is enough."""
    needed = n_min(margin, alpha)
    return needed if needed is None or metric in EXACT_COUNTS else max(LEAST_RESAMPLED, needed)


def too_few(
    n_rows: int,
    metric: Metric,
    margin: float,
    alpha: float,
    labels: np.ndarray | None = None,
    n_groups: int | None = None,
) -> str | None:
    """None, or why a verdict on n_rows rows (queries for NDCG) in n_groups groups would mean nothing."""
    needed = least_rows(metric, margin, alpha)
    if needed is None:
        return "no number of rows excludes every loss: a limit of 0 is met only by identical answers"
    unit = "queries" if metric == "ndcg_at_10" else "rows"
    if n_rows < needed:
        return f"too few {unit}: {n_rows:,} of {needed:,} needed"
    if n_groups is not None and n_groups < LEAST_GROUPS:
        return f"too few groups: {n_groups} of {LEAST_GROUPS} needed"
    if metric in TWO_CLASSES and labels is not None:
        rarest = rarer_rows(labels)
        if 0 < rarest < LEAST_PER_CLASS:  # none at all: the metric does not exist, and says so itself
            what = "of one class" if labels.ndim == 1 else "with or without one label"
            return f"too few rows {what}: {rarest} of {LEAST_PER_CLASS} needed"
    return None


def rarer_rows(labels: np.ndarray) -> int:
    """Rows of the rarer class; of several labels (n, k) for the one where they are fewest but not none."""
    if labels.ndim == 1:
        return int(np.bincount(labels, minlength=2).min())
    n_with = (labels == 1).sum(axis=0)
    rarer = np.minimum(n_with, len(labels) - n_with)
    return int(rarer[rarer > 0].min()) if rarer.any() else 0
