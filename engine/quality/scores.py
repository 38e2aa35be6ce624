"""A model's output -> the numbers that are judged, the same for every format and runtime."""

from __future__ import annotations

import math

import numpy as np

from engine.errors import Mismatch
from engine.records import OutputKind, Task

SLACK = 0.01  # half precision rounds a probability past 1; more than this is not a probability


def to_scores(output: np.ndarray, kind: OutputKind, task: Task) -> np.ndarray:
    """Scores of n rows from an output of shape (n, ...).

    binary: (n,) float64 probability of the second class. Logits and raw scores pass through the logistic function, so
    0 becomes 0.5 and the order stays; two columns are taken as one score per class.
    multiclass: (n, K) float64 probabilities. multilabel: (n, K) float64 probability of each label, logits and raw
    scores through the logistic function. regression, ranking: (n,) float64. embedding: (n, d). other: (n, m).
    Raises Mismatch when the shape or the kind does not belong to the task, or when rows hold NaN or infinity.
    """
    if output.dtype.kind not in "fiub":
        raise Mismatch(f"the judged output holds {output.dtype}, not numbers; choose another output")
    flat = _flat(output)
    if not np.isfinite(flat).all():
        raise Mismatch(non_finite_sentence(output))
    if task == "embedding":
        return flat
    scores: np.ndarray = flat.astype(np.float64)
    if task == "other":
        return scores
    if task in ("regression", "ranking"):
        return _column(scores, task)
    if kind in ("value", "embedding"):
        raise Mismatch(f"a {task} task needs logits, probabilities or raw scores; the output is declared as {kind}")
    if task == "binary":
        return _binary(scores, kind)
    if scores.shape[1] < 2:
        raise Mismatch(f"a {task} task needs one score per class; the output has one column")
    if task == "multilabel":
        return _probabilities(scores) if kind == "probabilities" else _logistic(scores)
    return _probabilities(scores) if kind == "probabilities" else _softmax(scores)


def predicted_classes(scores: np.ndarray) -> np.ndarray:
    """(n,) int: most likely class of (n,) probabilities of the second class or (n, K). A tie goes to the first."""
    return (scores > 0.5).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)


def non_finite_rows(output: np.ndarray) -> np.ndarray:
    """(n,) bool: rows of an output (n, ...) that hold NaN or infinity."""
    if output.dtype.kind != "f":
        return np.zeros(len(output), bool)
    bad: np.ndarray = ~np.isfinite(_flat(output)).all(axis=1)
    return bad


def non_finite_sentence(output: np.ndarray) -> str:
    """How many rows hold NaN or infinity, and which is the first, counted from 1."""
    bad = non_finite_rows(output)
    return f"NaN or infinite outputs in {int(bad.sum()):,} of {len(bad):,} rows (first: row {int(bad.argmax()) + 1})"


def _flat(output: np.ndarray) -> np.ndarray:
    flat: np.ndarray = output.reshape(len(output), math.prod(output.shape[1:]))
    return flat


def _column(scores: np.ndarray, task: Task) -> np.ndarray:
    if scores.shape[1] != 1:
        raise Mismatch(f"a {task} task needs one number per row; the output has {scores.shape[1]} columns")
    return scores[:, 0]


def _binary(scores: np.ndarray, kind: OutputKind) -> np.ndarray:
    if scores.shape[1] > 2:
        raise Mismatch(f"a binary task needs one or two columns; the output has {scores.shape[1]}")
    if kind == "probabilities":
        return _probabilities(scores)[:, -1]
    return _logistic(scores[:, 0] if scores.shape[1] == 1 else scores[:, 1] - scores[:, 0])


def _probabilities(scores: np.ndarray) -> np.ndarray:
    outside = ((scores < -SLACK) | (scores > 1 + SLACK)).any(axis=1)
    if outside.any():
        row = int(outside.argmax())
        worst = scores[row][np.abs(scores[row] - 0.5).argmax()]
        raise Mismatch(
            f"declared as probabilities, but {int(outside.sum()):,} of {len(scores):,} rows lie outside 0..1 "
            f"(first: row {row + 1}, {worst:.4g}); declare logits or raw score instead"
        )
    clipped: np.ndarray = np.clip(scores, 0.0, 1.0)
    return clipped


def _logistic(x: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(x))
    share: np.ndarray = np.where(x >= 0, 1.0, small) / (1.0 + small)
    return share


def _softmax(x: np.ndarray) -> np.ndarray:
    weights: np.ndarray = np.exp(x - x.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
