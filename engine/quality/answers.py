"""Two models' outputs on the same rows, read a block of rows at a time and kept as a few numbers per row.

So the memory that quality takes grows with the rows, not with rows × classes, whatever the outputs' size on disk. Only
where a row has several labels at once every one of them is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from engine.errors import BadData, BadInput, ParityFailed
from engine.quality import divergence
from engine.quality.scores import non_finite_rows, predicted_classes, to_scores
from engine.records import OutputKind, Task

BLOCK_NUMBERS = 2_000_000
CLASS_TASKS: tuple[Task, ...] = ("binary", "multiclass", "multilabel")
DECIDED = 0.5  # a label is given to a row above this probability
ONE_NUMBER: tuple[Task, ...] = ("binary", "regression", "ranking")


@dataclass(frozen=True)
class Answers:
    """One model, (n,) each; None where the task has no such thing.

    score: probability of the second class, or the value. predicted: most likely class. confidence: its probability.
    label_probability: probability of the row's label, NaN without one. Multilabel: (n, k) each, one binary answer per
    label, and no confidence.
    """

    score: np.ndarray | None = None
    predicted: np.ndarray | None = None
    confidence: np.ndarray | None = None
    label_probability: np.ndarray | None = None


@dataclass(frozen=True)
class Compared:
    """Both models. finite: (n,) rows whose candidate has an answer that is one; the gaps are NaN elsewhere.

    gap: largest |difference| over a row's columns; kl, js: divergence of its class probabilities in nats;
    top_k_overlap: share of its k most likely classes that both name.
    """

    baseline: Answers
    candidate: Answers
    finite: np.ndarray
    gap: np.ndarray
    kl: np.ndarray | None
    js: np.ndarray | None
    top_k: int | None
    top_k_overlap: np.ndarray | None
    identical: bool
    problem: str | None  # what is wrong with the candidate's output


def compare(
    baseline: np.ndarray, candidate: np.ndarray, labels: np.ndarray | None, kind: OutputKind, task: Task
) -> Compared:
    """Read both outputs (n, ...). labels: (n,) class index or value, -1 or NaN unknown; multilabel: (n, k) of 0, 1, -1.

    Raises Mismatch when the original's output is no score, BadData for a label that is no class of the model,
    ParityFailed when rows or columns of both do not match.
    """
    n = len(baseline)
    if len(candidate) != n:
        raise ParityFailed(f"the candidate answered {len(candidate):,} of {n:,} rows")
    state = _State(n, task)
    step = max(1, BLOCK_NUMBERS // max(1, baseline.size // max(1, n)))
    try:
        for start in range(0, max(n, 1), step):
            rows = slice(start, min(start + step, n))
            known = labels[rows] if labels is not None and task in CLASS_TASKS else None
            state.add(rows, np.asarray(baseline[rows]), np.asarray(candidate[rows]), known, kind)
    except BadInput:
        to_scores(baseline, kind, task)  # says it of all rows, when it is the original's fault
        raise
    return state.result(candidate, kind)


@dataclass
class _State:
    n: int
    task: Task
    identical: bool = True
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    is_score: bool = True
    top_k: int | None = None

    def add(
        self, rows: slice, before: np.ndarray, after: np.ndarray, labels: np.ndarray | None, kind: OutputKind
    ) -> None:
        first = to_scores(before, kind, self.task)
        _check_labels(labels, first, self.task)
        self.identical = self.identical and before.dtype == after.dtype and np.array_equal(before, after)
        self._keep("baseline", rows, first, labels)
        fine = ~non_finite_rows(after)
        second, fits = self._candidate(after, fine, first, kind)
        self._write("finite", rows, fine & fits, bool)
        if not fits:
            self.is_score = False
            return
        self._keep("candidate", rows, second, labels)
        self._gaps(rows, first, second, fine)

    def _candidate(
        self, output: np.ndarray, fine: np.ndarray, baseline: np.ndarray, kind: OutputKind
    ) -> tuple[np.ndarray, bool]:
        """Scores with NaN in rows that have none; False when they are no scores at all."""
        try:
            scores = to_scores(output[fine], kind, self.task)
        except BadInput:
            return baseline, False
        if scores.shape[1:] != baseline.shape[1:]:
            raise ParityFailed(f"the candidate's scores have the shape {scores.shape}, the original's {baseline.shape}")
        whole = np.full(baseline.shape, np.nan)
        whole[fine] = scores
        return whole, True

    def _keep(self, whose: str, rows: slice, scores: np.ndarray, labels: np.ndarray | None) -> None:
        if self.task in ONE_NUMBER:
            self._write(f"{whose} score", rows, scores, np.float64)
        if self.task not in CLASS_TASKS:
            return
        if self.task == "multilabel":
            self._keep_labels(whose, rows, scores, labels)
            return
        predicted = predicted_classes(scores)
        self._write(f"{whose} predicted", rows, predicted, np.int32)
        self._write(f"{whose} confidence", rows, _probability_of(scores, predicted), np.float64)
        if labels is not None:
            of_label = np.where(labels >= 0, _probability_of(scores, np.maximum(labels, 0)), np.nan)
            self._write(f"{whose} label_probability", rows, of_label, np.float64)

    def _keep_labels(self, whose: str, rows: slice, scores: np.ndarray, labels: np.ndarray | None) -> None:
        self._write(f"{whose} score", rows, scores, np.float64)
        self._write(f"{whose} predicted", rows, scores > DECIDED, bool)
        if labels is not None:
            of_label = np.where(labels < 0, np.nan, np.where(labels == 1, scores, 1.0 - scores))
            self._write(f"{whose} label_probability", rows, of_label, np.float64)

    def _gaps(self, rows: slice, first: np.ndarray, second: np.ndarray, fine: np.ndarray) -> None:
        gap = np.abs(second - first).reshape(len(first), -1).max(axis=1, initial=0.0)
        self._write("gap", rows, np.where(fine, gap, np.nan), np.float64)
        if self.task not in CLASS_TASKS:
            return
        for name, measure in (("kl", divergence.kl_per_row), ("js", divergence.js_per_row)):
            values = np.full(len(first), np.nan)
            values[fine] = _per_row(measure, first[fine], second[fine], self.task)
            self._write(name, rows, values, np.float64)
        if self.task == "multiclass" and first.shape[1] >= 3:
            self.top_k = min(5, first.shape[1] - 1)
            self._write("overlap", rows, divergence.top_k_overlap(first, second, self.top_k), np.float64)

    def _write(self, name: str, rows: slice, values: np.ndarray, dtype: type) -> None:
        if name not in self.columns:
            self.columns[name] = np.empty((self.n, *values.shape[1:]), dtype)
        self.columns[name][rows] = values

    def result(self, candidate: np.ndarray, kind: OutputKind) -> Compared:
        problem = None if self.columns["finite"].all() else _problem(candidate, kind, self.task)
        empty = np.full(self.n, np.nan)
        columns = self.columns if self.is_score else {}
        return Compared(
            baseline=_answers(self.columns, "baseline"),
            candidate=_answers(columns, "candidate"),
            finite=self.columns["finite"] if self.is_score else np.zeros(self.n, bool),
            gap=columns.get("gap", empty),
            kl=columns.get("kl"),
            js=columns.get("js"),
            top_k=self.top_k,
            top_k_overlap=columns.get("overlap"),
            identical=self.identical,
            problem=problem,
        )


def _answers(columns: dict[str, np.ndarray], whose: str) -> Answers:
    names = ("score", "predicted", "confidence", "label_probability")
    return Answers(**{name: columns.get(f"{whose} {name}") for name in names})


def _problem(output: np.ndarray, kind: OutputKind, task: Task) -> str:
    """What is wrong with an output that a block was refused for, counted over all rows."""
    try:
        to_scores(output, kind, task)
    except BadInput as error:
        return str(error)
    raise AssertionError("a block was refused, the whole was not")


def _per_row(
    measure: Callable[[np.ndarray, np.ndarray], np.ndarray], first: np.ndarray, second: np.ndarray, task: Task
) -> np.ndarray:
    """(n,) divergence; of several labels at once the mean over its labels, each of which is or is not."""
    if task != "multilabel":
        return measure(first, second)
    mean: np.ndarray = measure(first.ravel(), second.ravel()).reshape(first.shape).mean(axis=1)
    return mean


def _check_labels(labels: np.ndarray | None, scores: np.ndarray, task: Task) -> None:
    n_classes = 2 if scores.ndim == 1 else scores.shape[1]
    if labels is not None and task == "multilabel":
        if labels.shape != scores.shape:
            raise BadData(f"the labels have {labels.shape[-1]} columns; the model gives {n_classes} scores per row")
        if labels.max(initial=0) > 1 or labels.min(initial=0) < -1:
            raise BadData(f"labels go from {labels.min()} to {labels.max()}; each has to be 0 or 1, -1 for unknown")
    elif labels is not None and labels.max(initial=-1) >= n_classes:
        raise BadData(f"a label has the class index {int(labels.max())}; the model has {n_classes} classes")


def _probability_of(scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """(n,) probability of one class per row."""
    if scores.ndim == 1:
        return np.where(classes == 1, scores, 1.0 - scores)
    chosen: np.ndarray = scores[np.arange(len(scores)), classes]
    return chosen
