"""The rows on which a candidate differs most from the original: what a person wants to see before saying yes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from engine.errors import InvalidRequest
from engine.quality.answers import Answers, Compared, compare
from engine.quality.slices import PREFIX, class_name, slice_texts
from engine.records import Disagreement, DisagreementKind, OutputKind, Signature, Task

MOST_NAMES = 8  # labels of one row that are named
ORDER: tuple[DisagreementKind, ...] = (  # worst first
    "no answer",
    "bad flip",
    "worse",
    "other flip",
    "good flip",
    "better",
    "differs",  # the same answer with another score: many rows, so they come when everything else has been told
)


def worst_rows(
    baseline_output: np.ndarray,
    candidate_output: np.ndarray,
    labels: np.ndarray | None,
    rows: pd.DataFrame,
    signature: Signature,
    *,
    within: Sequence[tuple[str, str]] = (),
    limit: int = 50,
) -> list[Disagreement]:
    """At most `limit` rows whose answers differ at all: harm first, then by how much.

    Outputs, labels and rows as for `judge`. within: (slice column, value) pairs that all have to hold. Raises
    InvalidRequest for a value the column does not have, BadData for a column that is none.
    """
    task: Task = signature.task or "other"
    kind: OutputKind = signature.output_kind or "value"
    found = compare(baseline_output, candidate_output, labels, kind, task)
    kinds = _kinds(found, labels, task)
    differs = (kinds < len(ORDER)) & _inside(rows, within)
    at = np.flatnonzero(differs)
    gap = np.nan_to_num(found.gap[at], nan=np.inf)
    order = at[np.lexsort((at, -gap, kinds[at]))][:limit]
    texts = {str(name).removeprefix(PREFIX): None for name in rows if str(name).startswith(PREFIX)}
    slices = {name: slice_texts(rows.iloc[order], name) for name in texts} if len(order) else {}
    return [
        Disagreement(
            row=int(rows["row"].iloc[row]) + 1,
            kind=ORDER[kinds[row]],
            label=_label(labels, row, task, signature),
            baseline=_answer(found.baseline, row, signature) or "–",
            candidate=(_answer(found.candidate, row, signature) if found.finite[row] else None) or "–",
            baseline_score=_score(found.baseline, row),
            candidate_score=_score(found.candidate, row) if found.finite[row] else None,
            difference=_number(found.gap, row),
            kl_nats=_number(found.kl, row),
            slices={name: values[codes[place]] for name, (codes, values) in slices.items()},
        )
        for place, row in enumerate(order)
    ]


def _inside(rows: pd.DataFrame, within: Sequence[tuple[str, str]]) -> np.ndarray:
    inside = np.ones(len(rows), bool)
    for column, value in within:
        codes, values = slice_texts(rows, column)
        if value not in values:
            some = ", ".join(values[:8]) + (", …" if len(values) > 8 else "")
            raise InvalidRequest(f"no row has {column} = {value!r}; it has {some}")
        inside &= codes == values.index(value)
    return inside


def _kinds(found: Compared, labels: np.ndarray | None, task: Task) -> np.ndarray:
    """(n,) place of each row's kind in ORDER; len(ORDER) where both models say the same."""
    kinds = np.full(len(found.finite), len(ORDER))
    differs = ~(found.gap == 0)
    if found.baseline.predicted is not None and found.candidate.predicted is not None:
        before, after = found.baseline.predicted, found.candidate.predicted
        truth = np.full(before.shape, -1) if labels is None else labels
        kinds[differs] = ORDER.index("differs")
        flipped = _per_row(before != after) > 0
        gained = _per_row(after == truth) - _per_row(before == truth)  # of several labels: right decisions
        kinds[flipped] = ORDER.index("other flip")
        kinds[flipped & (gained < 0)] = ORDER.index("bad flip")
        kinds[flipped & (gained > 0)] = ORDER.index("good flip")
    elif task == "regression" and labels is not None and found.candidate.score is not None:
        assert found.baseline.score is not None
        more = np.abs(found.candidate.score - labels) - np.abs(found.baseline.score - labels)
        kinds[differs] = ORDER.index("differs")
        kinds[differs & (more > 0)] = ORDER.index("worse")
        kinds[differs & (more < 0)] = ORDER.index("better")
    else:
        kinds[differs] = ORDER.index("differs")
    kinds[~found.finite] = ORDER.index("no answer")
    return kinds


def _per_row(answers: np.ndarray) -> np.ndarray:
    """(n,) how many of a row's answers are true."""
    counts: np.ndarray = answers.sum(axis=tuple(range(1, answers.ndim)))
    return counts


def _label(labels: np.ndarray | None, row: int, task: Task, signature: Signature) -> str | None:
    if labels is None:
        return None
    if labels.ndim == 2:
        return _names(labels[row] == 1, signature) if labels[row].min() >= 0 else None
    if labels.dtype.kind == "f":
        return None if np.isnan(labels[row]) else f"{labels[row]:.6g}"
    return class_name(int(labels[row]), signature.classes) if labels[row] >= 0 else None


def _answer(answers: Answers, row: int, signature: Signature) -> str | None:
    if answers.predicted is not None and answers.predicted.ndim == 2:
        return _names(answers.predicted[row], signature)
    if answers.predicted is not None:
        return class_name(int(answers.predicted[row]), signature.classes)
    return None if answers.score is None else f"{answers.score[row]:.6g}"


def _names(given: np.ndarray, signature: Signature) -> str:
    """The labels of a row, given: (k,) bool; "none" without any."""
    names = [class_name(int(at), signature.classes) for at in np.flatnonzero(given)]
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more or "none"


def _score(answers: Answers, row: int) -> float | None:
    if answers.score is not None and answers.score.ndim == 2:
        return None
    return _number(answers.confidence if answers.confidence is not None else answers.score, row)


def _number(values: np.ndarray | None, row: int) -> float | None:
    return None if values is None or np.isnan(values[row]) else float(values[row])
