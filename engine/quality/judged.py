"""The labelled rows of a split with both models' answers, from which every metric reads what it wants."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import pandas as pd

from engine.errors import BadData
from engine.quality.answers import Answers, Compared
from engine.quality.loss import Rows
from engine.quality.metrics import MEASURES, MEDIAN
from engine.records import METRICS, Band, Metric, Task


@dataclass(frozen=True)
class Judged:
    """n labelled rows; labels: (n,), multilabel (n, k). weights, units and queries as in `Rows`."""

    baseline: Answers
    candidate: Answers
    labels: np.ndarray
    weights: np.ndarray | None
    units: np.ndarray | None
    queries: np.ndarray | None
    tau: float

    @classmethod
    def of(
        cls, found: Compared, labels: np.ndarray | None, rows: pd.DataFrame, known: np.ndarray, task: Task, band: Band
    ) -> Judged:
        """The rows where known (n,) is true. Raises BadData for weights below 0 and for a ranking without groups."""
        groups = rows["group"].to_numpy() if "group" in rows else None
        if task == "ranking" and groups is None:
            raise BadData("NDCG is judged per query: give one column the role group")
        weights = _weights(rows)
        return cls(
            baseline=_of(found.baseline, known),
            candidate=_of(found.candidate, known),
            labels=np.zeros(int(known.sum())) if labels is None else labels[known],
            weights=None if weights is None else weights[known],
            units=None if task == "ranking" or groups is None else _units(groups[known]),
            queries=groups[known] if task == "ranking" and groups is not None else None,
            tau=band.tau or MEDIAN,
        )

    def label(self, at: int) -> Judged:
        """One label of a multilabel task as a binary task of its own."""
        return replace(
            self,
            baseline=_column(self.baseline, at),
            candidate=_column(self.candidate, at),
            labels=self.labels[:, at].astype(np.int64),
        )

    def rows(self, metric: Metric) -> Rows:
        """What the metric reads of every row."""
        read = MEASURES[metric].read
        return Rows(
            baseline=read(self.baseline, self.labels, self.tau),
            candidate=read(self.candidate, self.labels, self.tau),
            labels=self.labels if METRICS[metric].needs_label else None,
            weights=self.weights,
            units=self.units,
            queries=self.queries,
        )


def known_rows(labels: np.ndarray | None, metric: Metric, n_rows: int) -> np.ndarray:
    """(n_rows,) bool: rows that the metric can judge."""
    if not METRICS[metric].needs_label:
        return np.ones(n_rows, bool)
    if labels is None:
        return np.zeros(n_rows, bool)
    known: np.ndarray = ~np.isnan(labels) if labels.dtype.kind == "f" else labels >= 0
    rows: np.ndarray = np.all(known, axis=1) if known.ndim == 2 else known
    return rows


def _weights(rows: pd.DataFrame) -> np.ndarray | None:
    if "weight" not in rows:
        return None
    weights = rows["weight"].to_numpy(np.float64)
    bad = ~(weights >= 0)
    if bad.any():
        raise BadData(
            f"weights must be 0 or more; {int(bad.sum()):,} rows are not "
            f"(first: row {int(bad.argmax()) + 1} of the split, {weights[bad][0]:g})"
        )
    return weights


def _units(groups: np.ndarray) -> np.ndarray | None:
    """Group numbers; None where every row is a group of its own, so nothing depends on anything."""
    codes, names = pd.factorize(groups)
    return codes if len(names) < len(groups) else None


def _of(answers: Answers, known: np.ndarray) -> Answers:
    values = {field.name: getattr(answers, field.name) for field in fields(answers)}
    return Answers(**{name: None if value is None else value[known] for name, value in values.items()})


def _column(answers: Answers, at: int) -> Answers:
    values = {field.name: getattr(answers, field.name) for field in fields(answers)}
    found = {name: None if value is None else value[:, at] for name, value in values.items()}
    assert found["predicted"] is not None
    return Answers(**found | {"predicted": found["predicted"].astype(np.int64)})
