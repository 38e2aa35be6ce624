"""Which groups of rows are judged on their own, and from how many rows on that means anything."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from engine.errors import BadData
from engine.records import Metric

CLASS_COLUMN = "true class"
PREFIX = "slice:"
RESAMPLED: frozenset[Metric] = frozenset({"roc_auc", "rmse", "ndcg_at_10"})
LEAST_RESAMPLED = 100
LEAST_PER_CLASS = 30


def declared_slices(rows: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[str, str, np.ndarray]]:
    """(column, value, (n,) bool) for every value of the declared slice columns; a blank is "(missing)".

    rows: holds one text column "slice:<name>" per slice column. Raises BadData when one is not there.
    """
    for column in columns:
        if PREFIX + column not in rows:
            known = ", ".join(str(name)[len(PREFIX) :] for name in rows if str(name).startswith(PREFIX)) or "none"
            raise BadData(f"the slice column {column!r} is not in the evaluation set; it has {known}")
        text = rows[PREFIX + column].astype(object)
        values = text.where(text.notna() & (text != ""), "(missing)").astype(str).to_numpy()
        for value in np.unique(values):
            yield column, str(value), values == value


def class_slices(labels: np.ndarray, classes: Sequence[str] | None) -> Iterator[tuple[str, str, np.ndarray]]:
    """("true class", name, (n,) bool) for every class among the labels: accuracy there is the class's recall."""
    for index in np.unique(labels):
        name = classes[index] if classes is not None and 0 <= index < len(classes) else str(index)
        yield CLASS_COLUMN, name, labels == index


def n_min(margin: float, alpha: float = 0.05) -> int | None:
    """Rows from which no lost row at all excludes a loss of `margin`: ⌈ln α / ln(1 - δ)⌉. None for a margin of 0."""
    if margin <= 0.0:
        return None
    return 1 if margin >= 1.0 else math.ceil(math.log(alpha) / math.log1p(-margin))


def too_few(n_units: int, metric: Metric, margin: float, alpha: float, labels: np.ndarray | None = None) -> str | None:
    """None, or why a verdict on n_units rows (queries for NDCG) would mean nothing."""
    needed = n_min(margin, alpha)
    if needed is None:
        return "no number of rows excludes every loss: a limit of 0 is met only by identical answers"
    if metric in RESAMPLED:
        needed = max(LEAST_RESAMPLED, needed)
    unit = "queries" if metric == "ndcg_at_10" else "rows"
    if n_units < needed:
        return f"too few {unit}: {n_units:,} of {needed:,} needed"
    if metric == "roc_auc" and labels is not None:
        rarest = int(np.bincount(labels, minlength=2).min())
        if 0 < rarest < LEAST_PER_CLASS:  # none at all: the metric does not exist, and says so itself
            return f"too few rows of one class: {rarest} of {LEAST_PER_CLASS} needed"
    return None
