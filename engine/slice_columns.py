"""The columns in which slices nobody declared are looked for: declared slice columns, and what the model is given.

Numbers are put in the quarters of the train rows, so that no later row decides where a slice begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from engine.data.stored import load_rows, load_split
from engine.quality.found import MOST_COLUMNS, MOST_VALUES, Column
from engine.quality.slices import PREFIX, slice_texts
from engine.records import Signature, SplitName

FEW_VALUES = 20  # whole numbers with no more values than this are categories
MISSING = "(missing)"


def slice_columns(evalset: Path, split: SplitName, signature: Signature) -> dict[str, Column]:
    """At most 40 columns of a split: name -> ((n,) codes, what each code means), declared ones first."""
    rows = load_rows(evalset, split)
    found: dict[str, Column] = {}
    for name in (str(column).removeprefix(PREFIX) for column in rows if str(column).startswith(PREFIX)):
        codes, texts = slice_texts(rows, name)
        found[name] = (codes, texts)
    for name, values, decisive, categories in _inputs(evalset, split, signature):
        if len(found) >= MOST_COLUMNS:
            break
        if name not in found:
            column = _column(values, decisive, categories)
            if column is not None:
                found[name] = column
    return found


def _inputs(
    evalset: Path, split: SplitName, signature: Signature
) -> Iterator[tuple[str, np.ndarray, np.ndarray, tuple[str, ...] | None]]:
    """(name, (n,) values, (m,) values of the train rows, category names) of every column the model is given."""
    here, train = load_split(evalset, split).inputs, load_split(evalset, "train").inputs
    for spec in signature.inputs:
        values, decisive = here[spec.name], train[spec.name]
        if values.ndim == 1:
            yield spec.name, np.asarray(values), np.asarray(decisive), None
        elif values.ndim == 2:
            names = spec.columns or tuple(f"{spec.name}[{at}]" for at in range(values.shape[1]))
            take = partial(np.take, axis=1)
            for at, name in enumerate(names):
                yield name, take(values, at), take(decisive, at), (spec.categories or {}).get(name)


def _column(values: np.ndarray, decisive: np.ndarray, categories: tuple[str, ...] | None) -> Column | None:
    if values.dtype.kind == "U":
        texts, codes = np.unique(values, return_inverse=True)
        return (codes, [str(text) or MISSING for text in texts]) if len(texts) <= MOST_VALUES else None
    if values.dtype.kind not in "fiub":
        return None
    numbers = values.astype(np.float64)
    known = np.isfinite(numbers)
    distinct = np.unique(numbers[known])
    if len(distinct) <= (FEW_VALUES if np.all(np.mod(distinct, 1) == 0) else 2) or categories is not None:
        codes = np.where(known, np.searchsorted(distinct, numbers), len(distinct))
        return codes, [*(_name(value, categories) for value in distinct), MISSING]
    usable = decisive.astype(np.float64)
    usable = usable[np.isfinite(usable)] if np.isfinite(usable).any() else numbers[known]
    edges = np.unique(np.quantile(usable, (0.25, 0.5, 0.75)))
    codes = np.where(known, np.searchsorted(edges, numbers, side="left"), len(edges) + 1)
    said = [f"{edge:.4g}" for edge in edges]
    if len(set(said)) < len(said):
        said = [repr(float(edge)) for edge in edges]
    ranges = [f"up to {said[0]}", *(f"{low} to {high}" for low, high in pairwise(said)), f"above {said[-1]}"]
    return codes, [*ranges, MISSING]


def _name(value: float, categories: tuple[str, ...] | None) -> str:
    if categories is not None and 0 <= value < len(categories):
        return categories[int(value)]
    return f"{value:g}"
