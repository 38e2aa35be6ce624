"""Match the labels of the file to the scores of the model: task, classes in score order, one number per row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.data.choices import DataChoices
from engine.data.label_values import LabelValues
from engine.data.limits import names_text
from engine.errors import BadData, Mismatch
from engine.records import Signature, Task

UNLABELLED_TASKS: tuple[Task, ...] = ("other", "embedding")
CLASS_TASKS: tuple[Task, ...] = ("binary", "multiclass")
SCORED_TASKS: tuple[Task, ...] = (*CLASS_TASKS, "multilabel")  # a score says how sure a class is


@dataclass(frozen=True)
class Labels:
    """What is known of every row: (n,) int64 class index with -1, or (n,) float64 with NaN; None without a label.

    Several labels at once: (n, k) int8 of 0 and 1, -1 in all of a row without labels; sources are the columns they come
    from in the order of the scores, or the one column that holds them all, separator what stands between its names.
    """

    task: Task
    classes: tuple[str, ...] | None
    values: np.ndarray | None
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    separator: str | None = None

    @property
    def labelled(self) -> np.ndarray | None:
        """(n,) bool: rows with a label."""
        if self.values is None:
            return None
        known: np.ndarray = self.values >= 0 if self.values.dtype.kind == "i" else ~np.isnan(self.values)
        rows: np.ndarray = np.all(known, axis=1) if known.ndim == 2 else known
        return rows


def score_width(signature: Signature) -> int | None:
    """Columns of the judged output: 1 for one number per row, None when the model does not tell."""
    spec = next((one for one in signature.outputs if one.name == signature.score_output), None)
    if spec is None or len(spec.shape) > 2:
        return None
    if len(spec.shape) < 2:
        return 1
    return spec.shape[1] if isinstance(spec.shape[1], int) else None


def settle_labels(found: LabelValues | None, signature: Signature, choices: DataChoices) -> Labels:
    """Task, classes and one label per row. Raises BadData or Mismatch with the values on both sides."""
    width = score_width(signature)
    task = choices.task or signature.task or _guess_task(found, width)
    if task in UNLABELLED_TASKS:
        return Labels(task, None, None, tuple(_unused(found, task)))
    if found is None:
        raise BadData(
            f"no label column was found, and a {task} task needs one; name it (--label COLUMN), or choose the task "
            "other (--task other) for agreement with the original and timing alone"
        )
    if task in CLASS_TASKS:
        return _classes(found, task, width, signature, choices)
    return _numbers(found, task, width)


def encode_more(found: LabelValues, labels: Labels) -> np.ndarray:
    """Labels of further rows in the terms of `labels`. Raises Mismatch for a class that is not known."""
    if labels.classes is None:
        return _numbers(found, labels.task, None).values  # type: ignore[return-value]
    return _encode(found, labels.classes)


def _guess_task(found: LabelValues | None, width: int | None) -> Task:
    if found is None:
        raise BadData(
            "no label column was found; name it (--label COLUMN), or choose the task other (--task other) for "
            "agreement with the original and timing alone"
        )
    n_values = len(found.texts) - len(found.words)
    countable = found.numbers is None or (found.whole and n_values > 0)
    if width is not None and width > 1:
        return "binary" if width == 2 else "multiclass"
    if countable and n_values <= 2:
        return "binary"
    if width == 1:
        return "regression"
    counted = found.texts == tuple(map(str, range(n_values)))
    return "multiclass" if found.numbers is None or (counted and 0 < n_values <= 100) else "regression"


def _classes(found: LabelValues, task: Task, width: int | None, signature: Signature, choices: DataChoices) -> Labels:
    n_classes = width if width is not None and width > 1 else 2 if task == "binary" else None
    if task == "binary" and width is not None and width > 2:
        raise Mismatch(f"a binary task needs one or two scores per row; output {signature.score_output} gives {width}")
    if task == "multiclass" and width == 1:
        raise Mismatch(
            f"a multiclass task needs one score per class; output {signature.score_output} gives one per row"
        )
    if found.numbers is not None and (not found.whole or not found.texts):
        raise Mismatch(
            f"label column {found.column} holds numbers such as {_example(found)}; a {task} task needs one value per "
            "class. Is it a regression (--task regression)?"
        )
    found, notes = _without_words(found, n_classes, signature, choices)
    if len(found.texts) == 1:
        n_rows = int((found.codes >= 0).sum())
        raise BadData(f"all labels are {found.texts[0]!r} ({n_rows:,} rows); quality cannot be judged with one class")
    names, proposed = _class_names(found, n_classes, signature, choices)
    values = _encode(found, names)
    if proposed:
        notes.append(f"Classes in sorted order, the first for the first score: {names_text(names, 30)}. Is it so?")
    return Labels(task, names, values, tuple(notes))


def _class_names(
    found: LabelValues, n_classes: int | None, signature: Signature, choices: DataChoices
) -> tuple[tuple[str, ...], bool]:
    """Class names in score order, and whether they are only a proposal."""
    if choices.classes is not None:
        return _checked(choices.classes, n_classes), False
    known = signature.classes
    unknown = [text for text, place in places(found.texts, known or ()).items() if place is None]
    if known is not None and not unknown:
        return known, False
    if known is not None and known != tuple(map(str, range(len(known)))):
        raise Mismatch(
            f"label values {names_text(unknown)} are not among the model's classes {names_text(known, 30)}; "
            "say which label belongs to each score (--classes a,b,…)"
        )
    n_classes = len(known) if known is not None else n_classes
    if found.numeric and n_classes is not None:
        counted = tuple(map(str, range(n_classes)))
        if set(found.texts) <= set(counted):
            return counted, False
    if n_classes is not None and len(found.texts) != n_classes:
        raise Mismatch(
            f"label column {found.column} has {len(found.texts):,} different values ({names_text(found.texts)}), the "
            f"model gives {n_classes} scores; say which label belongs to each score (--classes a,b,…)"
        )
    return found.texts, True


def _checked(classes: tuple[str, ...], n_classes: int | None) -> tuple[str, ...]:
    if len(set(classes)) != len(classes):
        raise Mismatch(f"the classes name a value twice: {names_text(classes, 30)}")
    if n_classes is not None and len(classes) != n_classes:
        raise Mismatch(
            f"{len(classes)} classes are named ({names_text(classes, 30)}), the model gives {n_classes} scores"
        )
    return classes


def _without_words(
    found: LabelValues, n_classes: int | None, signature: Signature, choices: DataChoices
) -> tuple[LabelValues, list[str]]:
    """In a column of numbers and NA, NA is a class where the model has one more class; else such rows have no label."""
    names = choices.classes or signature.classes or ()
    words = [word for word in found.words if word not in names]
    fits = n_classes is not None and len(found.texts) == n_classes and not names
    if not words or fits:
        return found, []
    keep = [at for at, text in enumerate(found.texts) if text not in words]
    move = np.full(len(found.texts) + 1, -1, dtype=np.int64)  # the last entry is for rows without a label
    move[keep] = np.arange(len(keep))
    n_cells = int(np.isin(found.codes, [found.texts.index(word) for word in words]).sum())
    kept = LabelValues(
        found.column, tuple(found.texts[at] for at in keep), move[found.codes], found.numbers, numeric=True
    )
    return kept, [
        f"Column {found.column}: {n_cells:,} cells {names_text(words)} counted as without label; no class has that name"
    ]


def _encode(found: LabelValues, names: tuple[str, ...]) -> np.ndarray:
    known = places(found.texts, names)
    unknown = [text for text, place in known.items() if place is None and text not in found.words]
    if unknown:
        raise Mismatch(
            f"label column {found.column} holds {names_text(unknown)}, not among the classes {names_text(names, 30)}"
        )
    table = np.array([*(-1 if place is None else place for place in known.values()), -1], dtype=np.int64)
    codes: np.ndarray = table[found.codes]
    return codes


def places(texts: tuple[str, ...], names: tuple[str, ...]) -> dict[str, int | None]:
    """Position of each label among class names: the same text, the same number, or true/false as 1/0."""
    exact = {name: at for at, name in reversed(list(enumerate(names)))}
    alike = {_key(name): at for at, name in reversed(list(enumerate(names)))}
    return {text: exact.get(text, alike.get(_key(text))) for text in texts}


def _key(text: str) -> str | float:
    lowered = text.strip().lower()
    if lowered in ("true", "false"):
        return float(lowered == "true")
    return float(text) if re.fullmatch(r"[+-]?\d+(\.0*)?", text.strip(), re.ASCII) else text


def _numbers(found: LabelValues, task: Task, width: int | None) -> Labels:
    if width is not None and width > 1:
        raise Mismatch(f"a {task} task needs one number per row; the judged output gives {width}")
    if found.numbers is None:
        raise Mismatch(
            f"label column {found.column} holds text ({names_text(found.texts, 4)}); a {task} task needs numbers. "
            "Is it a classification (--task binary or multiclass)?"
        )
    infinite = np.isinf(found.numbers)
    if infinite.any():
        raise BadData(f"row {int(infinite.argmax()) + 1:,}, column {found.column}: the label is infinite")
    return Labels(task, None, found.numbers, tuple(_word_notes(found)))


def _word_notes(found: LabelValues) -> Iterator[str]:
    if found.words:
        yield f"Column {found.column}: {names_text(found.words)} counted as without label"


def _unused(found: LabelValues | None, task: Task) -> Iterator[str]:
    if found is not None:
        yield f"Column {found.column} is not used as a label: the task {task} compares answers with the original's"


def _example(found: LabelValues) -> str:
    assert found.numbers is not None
    finite = found.numbers[np.isfinite(found.numbers)]
    broken = finite[np.mod(finite, 1) != 0]
    return f"{(broken if len(broken) else finite)[0]:.6g}"
