"""Every metric: what it reads of a row's answer, and by which method its loss is found. A new metric is a line here.

Its name, direction and scale are in `engine/records/metrics.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from engine.errors import InvalidRequest
from engine.quality import loss
from engine.quality.answers import Answers
from engine.quality.loss import Loss, Rows
from engine.records import METRICS, Metric, Task

AUTO: dict[Task, Metric] = {
    "binary": "roc_auc",
    "multiclass": "accuracy",
    "multilabel": "macro_roc_auc",
    "regression": "rmse",
    "ranking": "ndcg_at_10",
    "embedding": "retrieval_agreement",
}
ONE_LABEL: dict[Metric, Metric] = {  # of several labels at once: what judges one of them by itself
    "macro_roc_auc": "roc_auc",
    "macro_f1": "f1",
    "micro_f1": "f1",
    "subset_accuracy": "accuracy",
    "hamming_loss": "accuracy",
    "log_loss": "log_loss",
    "brier": "brier",
}
LEAST_PROBABILITY = 1e-12  # log-loss of a certain, wrong answer is 27.6 instead of infinite
MEDIAN = 0.5


class Lose(Protocol):
    """A method of `engine/quality/loss.py`."""

    def __call__(self, rows: Rows, alpha: float, seed: int, *, bounded: bool) -> Loss:
        """The loss on these rows, with or without its bound."""


@dataclass(frozen=True)
class Measure:
    """read(answers, labels (n,), tau) -> (n,) what the method wants of each row; for several labels also (n, k)."""

    read: Callable[[Answers, np.ndarray, float], np.ndarray]
    lose: Lose


def right_rows(answers: Answers, labels: np.ndarray, tau: float) -> np.ndarray:
    """(n,) bool: the most likely class is the label; (n, k): the decision on each label is."""
    right: np.ndarray = _predicted(answers) == labels
    return right


def wholly_right_rows(answers: Answers, labels: np.ndarray, tau: float) -> np.ndarray:
    """(n,) bool: every label is decided rightly."""
    right: np.ndarray = np.all(right_rows(answers, labels, tau), axis=1)
    return right


def log_losses(answers: Answers, labels: np.ndarray, tau: float) -> np.ndarray:
    """(n,) -ln of the label's probability; of several labels the mean."""
    assert answers.label_probability is not None
    return _per_row(-np.log(np.clip(answers.label_probability, LEAST_PROBABILITY, 1.0)))


def squared_errors(answers: Answers, labels: np.ndarray, tau: float) -> np.ndarray:
    """(n,) squared distance of the value, or of the second class's probability, from the label; of several the mean."""
    return _per_row((_score(answers) - labels) ** 2)


def absolute_errors(answers: Answers, labels: np.ndarray, tau: float) -> np.ndarray:
    """(n,) distance of the value from the label."""
    errors: np.ndarray = np.abs(_score(answers) - labels)
    return errors


def pinball_losses(answers: Answers, labels: np.ndarray, tau: float) -> np.ndarray:
    """(n,) tau times what the value lacks, or 1 - tau times what it has too much (Koenker and Bassett 1978)."""
    lacks = labels - _score(answers)
    losses: np.ndarray = np.maximum(tau * lacks, (tau - 1) * lacks)
    return losses


def _per_row(values: np.ndarray) -> np.ndarray:
    mean: np.ndarray = values.mean(axis=1) if values.ndim == 2 else values
    return mean


def _score(answers: Answers, *_: object) -> np.ndarray:
    assert answers.score is not None
    return answers.score


def _predicted(answers: Answers, *_: object) -> np.ndarray:
    assert answers.predicted is not None
    return answers.predicted


MEASURES: dict[Metric, Measure] = {
    "roc_auc": Measure(_score, loss.roc_areas),
    "macro_roc_auc": Measure(_score, loss.macro_roc_areas),
    "pr_auc": Measure(_score, loss.pr_areas),
    "f1": Measure(_predicted, loss.second_f1),
    "macro_f1": Measure(_predicted, loss.macro_f1),
    "micro_f1": Measure(_predicted, loss.micro_f1),
    "accuracy": Measure(right_rows, loss.shares),
    "subset_accuracy": Measure(wholly_right_rows, loss.shares),
    "hamming_loss": Measure(right_rows, loss.wrong_decisions),
    "log_loss": Measure(log_losses, loss.mean_losses),
    "brier": Measure(squared_errors, loss.mean_losses),
    "rmse": Measure(squared_errors, loss.root_mean_losses),
    "mae": Measure(absolute_errors, loss.mean_losses),
    "pinball": Measure(pinball_losses, loss.mean_losses),
    "ndcg_at_10": Measure(_score, loss.queries),
    "retrieval_agreement": Measure(_score, loss.shares),  # its score is whether the neighbour stayed
}


def lose(metric: Metric, rows: Rows, alpha: float, seed: int = 0, *, bounded: bool = True) -> Loss:
    """The loss of one metric on these rows; `reason` instead of values where the metric does not exist there."""
    if not len(rows):
        return Loss(0, reason="no labelled row")
    if rows.weights is not None and rows.weights.sum() <= 0:
        return Loss(len(rows), reason="all rows have the weight 0")
    return MEASURES[metric].lose(rows, alpha, seed, bounded=bounded)


def auto_metric(task: Task, *, labelled: bool = True) -> Metric | None:
    """The metric of a task; None where only agreement with the original and timing are left."""
    metric = AUTO.get(task)
    return metric if metric is not None and (labelled or not METRICS[metric].needs_label) else None


def is_relative(metric: Metric | None) -> bool:
    """True when a drop is a share of the baseline: the metric has no fixed scale."""
    return metric is not None and not METRICS[metric].fixed_scale


def check_fits(metric: Metric, task: Task) -> None:
    """Raise InvalidRequest when a metric cannot judge a task."""
    if task not in METRICS[metric].tasks:
        allowed = " or ".join(sorted(name for name, facts in METRICS.items() if task in facts.tasks)) or "no metric"
        raise InvalidRequest(f"the metric {metric} cannot judge a {task} task; use {allowed}")
