"""Which output is judged and what it means: from the file, the first rows and what a person said."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.data.choices import DataChoices
from engine.data.labels import CLASS_TASKS, SCORED_TASKS
from engine.data.limits import names_text
from engine.errors import Mismatch
from engine.records import OutputKind, Signature, Task, TensorSpec

SLACK = 1e-3  # rows of probabilities may miss the sum of 1 by rounding
_TELLING = ("prob", "score", "logit", "pred")  # parts of names that outputs with scores carry
_FITTING: dict[Task, tuple[OutputKind, ...]] = {
    "binary": ("probabilities", "logits", "raw score"),
    "multiclass": ("probabilities", "logits", "raw score"),
    "multilabel": ("probabilities", "logits", "raw score"),
    "regression": ("value", "raw score"),
    "ranking": ("raw score", "value"),
    "embedding": ("embedding",),
    "other": ("value", "logits", "probabilities", "raw score", "embedding"),
}


def propose_output(
    signature: Signature, first_outputs: Mapping[str, np.ndarray] | None, choices: DataChoices
) -> Signature:
    """The signature with task, judged output and its kind filled in as far as they are known.

    first_outputs: output name -> (m, ...) for the first rows, None before the model has run. Raises Mismatch when a
    choice cannot be true of the model or of those rows.
    """
    spec = _judged(signature, choices)
    task = choices.task or signature.task
    kind = choices.output_kind or signature.output_kind
    if first_outputs is not None and task is not None:
        values = np.asarray(first_outputs[spec.name])
        _check_shape(spec.name, values, task, signature.classes)
        if kind is None:
            kind = _guess_kind(values, task)
        elif kind == "probabilities" and task in SCORED_TASKS:
            _check_probabilities(spec.name, values, task)
    if task is not None and kind is not None and kind not in _FITTING[task]:
        raise Mismatch(
            f"output {spec.name} cannot be {kind} for a {task} task; it can be {' or '.join(_FITTING[task])}"
        )
    return signature.model_copy(update={"task": task, "score_output": spec.name, "output_kind": kind})


def _judged(signature: Signature, choices: DataChoices) -> TensorSpec:
    by_name = {spec.name: spec for spec in signature.outputs}
    chosen = choices.output or signature.score_output
    if chosen is not None:
        if chosen not in by_name:
            raise Mismatch(f"the model has no output {chosen!r}; it has {names_text(list(by_name))}")
        return by_name[chosen]
    floats = [spec for spec in signature.outputs if spec.dtype.startswith(("float", "bfloat")) and spec.shape]
    telling = [spec for spec in floats if any(part in spec.name.lower() for part in _TELLING)]
    if not floats:
        raise Mismatch(
            f"no output holds scores; the model gives {names_text([_text(spec) for spec in signature.outputs])}"
        )
    return (telling or floats)[0]


def _text(spec: TensorSpec) -> str:
    return f"{spec.name} ({spec.dtype})"


def _check_shape(name: str, values: np.ndarray, task: Task, classes: tuple[str, ...] | None) -> None:
    if values.dtype.kind not in "fiub":
        raise Mismatch(f"output {name} holds {values.dtype}, not numbers; choose another output")
    width = values.shape[1] if values.ndim == 2 else 1
    shape = "×".join(map(str, values.shape[1:])) or "1"
    if task in (*SCORED_TASKS, "regression", "ranking") and values.ndim > 2:
        raise Mismatch(f"output {name} gives {shape} numbers per row; a {task} task needs one row of scores")
    if task in ("regression", "ranking") and width != 1:
        raise Mismatch(f"output {name} gives {width} numbers per row; a {task} task needs one")
    if task in ("multiclass", "multilabel") and width < 2:
        raise Mismatch(f"output {name} gives one number per row; a {task} task needs one score per class")
    if task == "binary" and width > 2:
        raise Mismatch(f"output {name} gives {width} scores per row; a binary task needs one or two")
    if task in SCORED_TASKS and width > 1 and classes is not None and len(classes) != width:
        raise Mismatch(
            f"output {name} gives {width} scores per row, {len(classes)} classes are named: {names_text(classes)}"
        )


def _guess_kind(values: np.ndarray, task: Task) -> OutputKind:
    if task in ("embedding", "regression", "ranking", "other"):
        return "embedding" if task == "embedding" else "value"
    finite = values[np.isfinite(values)]
    if not len(finite) or finite.min() < 0 or finite.max() > 1:
        return "logits"
    if values.ndim < 2 or values.shape[1] == 1 or task == "multilabel":
        return "probabilities"
    return "probabilities" if _sums_to_one(values) else "raw score"


def _sums_to_one(values: np.ndarray) -> bool:
    sums = values.astype(np.float64).sum(axis=1)
    rounding = float(np.finfo(values.dtype).eps) * values.shape[1] * 4 if values.dtype.kind == "f" else 0.0
    return bool(np.all(np.abs(sums - 1) <= max(SLACK, rounding)))


def _check_probabilities(name: str, values: np.ndarray, task: Task) -> None:
    finite = values[np.isfinite(values)]
    if len(finite) and (finite.min() < -SLACK or finite.max() > 1 + SLACK):
        raise Mismatch(
            f"output {name} cannot be probabilities: the first {len(values):,} rows go from {finite.min():.4g} to "
            f"{finite.max():.4g}; choose logits or raw score"
        )
    if task in CLASS_TASKS and values.ndim == 2 and values.shape[1] > 1 and not _sums_to_one(values):
        sums = values.astype(np.float64).sum(axis=1)
        raise Mismatch(
            f"output {name} cannot be probabilities of classes: the first {len(values):,} rows sum to "
            f"{sums.min():.4g} … {sums.max():.4g} instead of 1; choose raw score"
        )
