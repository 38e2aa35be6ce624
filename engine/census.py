"""Count the rows of an evaluation set: by split, true class and slice, as far as a verdict will depend on them.

No prediction is read, so nothing is learnt about any variant before its promise is set.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pandas as pd

from engine import sandbox
from engine.data.stored import load_rows, load_split
from engine.quality.slices import CLASS_COLUMN, LABEL_COLUMN, PREFIX, class_name, declared_slices, rarer_rows
from engine.records import Census, PartRows, Signature, SplitName

if TYPE_CHECKING:
    from engine.sandbox import Talk

Part = tuple[str | None, str]  # slice column and value; (None, ""): all rows
Named = tuple[Part, np.ndarray]  # and (n,) bool: its rows
SPLITS: tuple[SplitName, ...] = get_args(SplitName)
MOST_CLASSES = 200  # more are neither listed nor judged one by one by hand


def census(evalset: Path, signature: Signature) -> Census:
    """The counts of a stored evaluation set, made in the confined child."""
    answer = sandbox.run(
        "engine.census:count", {"evalset": str(evalset), "signature": signature.model_dump(mode="json")}, read=[evalset]
    )
    return Census.model_validate(answer)


def count(request: dict[str, Any], talk: Talk) -> dict[str, Any]:
    """Request: evalset, signature. Answers a Census."""
    evalset, signature = Path(request["evalset"]), Signature.model_validate(request["signature"])
    rows: dict[Part, dict[SplitName, int]] = {(None, ""): {}}
    judged: dict[Part, dict[str, int | None]] = {}
    for split in SPLITS:
        labels, facts = load_split(evalset, split).labels, load_rows(evalset, split)
        if not len(facts):
            continue
        for part, mask in _parts(labels, facts, signature):
            rows.setdefault(part, {})[split] = int(mask.sum())
            if split == "certification":
                judged[part] = _judged(part, labels, facts, mask, signature)
    found = [
        PartRows(column=column, value=value, rows=counts, **judged.get((column, value), {}))
        for (column, value), counts in rows.items()
    ]
    return Census(
        whole=found[0],
        classes=tuple(one for one in found if one.column in (CLASS_COLUMN, LABEL_COLUMN)),
        slices=tuple(one for one in found if one.column not in (None, CLASS_COLUMN, LABEL_COLUMN)),
    ).model_dump(mode="json")


def _parts(labels: np.ndarray | None, facts: pd.DataFrame, signature: Signature) -> Iterator[Named]:
    yield (None, ""), np.ones(len(facts), bool)
    if labels is not None and labels.dtype.kind in "iub":
        for index, mask in _classes(labels, signature):
            yield (CLASS_COLUMN if labels.ndim == 1 else LABEL_COLUMN, class_name(index, signature.classes)), mask
    declared = [str(name).removeprefix(PREFIX) for name in facts if str(name).startswith(PREFIX)]
    for column, value, mask in declared_slices(facts, declared):
        yield (column, value), mask


def _classes(labels: np.ndarray, signature: Signature) -> Iterator[tuple[int, np.ndarray]]:
    """Rows of each class; of labels (n, n_classes) the rows that have it among others."""
    n_classes = len(signature.classes or ()) or int(labels.max(initial=-1)) + 1
    for index in range(min(n_classes, MOST_CLASSES)):
        yield index, (labels == index if labels.ndim == 1 else np.asarray(labels)[:, index] == 1)


def _judged(
    part: Part, labels: np.ndarray | None, facts: pd.DataFrame, mask: np.ndarray, signature: Signature
) -> dict[str, int | None]:
    """What a verdict on these certification rows counts (the checks of `quality.slices.too_few`)."""
    groups = facts["group"].to_numpy() if "group" in facts else None
    if signature.task == "ranking" and groups is not None and labels is not None:
        return {"n_judged": len(np.unique(groups[mask & (labels > 0)]))}
    found: dict[str, int | None] = {"n_judged": int(mask.sum())}
    if groups is not None and len(np.unique(groups)) < len(groups):
        found["n_groups"] = len(np.unique(groups[mask]))
    if part[0] == LABEL_COLUMN:  # the label beside all rows that lack it
        found["n_rarer"] = int(min(mask.sum(), (~mask).sum()))
    elif signature.task in ("binary", "multilabel") and labels is not None:
        found["n_rarer"] = rarer_rows(labels[mask])
    return found
