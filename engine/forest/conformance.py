"""Rows at which two readings of a tree may part, and what two sets of answers to them have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.forest.forest import ZERO, Forest

MOST_ROWS, BASE_ROWS = 6000, 500
AS_IT_IS = "a row as it is"
_TINY = [
    0.0,
    -0.0,
    1e-36,
    -1e-36,
    5e-324,
    1e-35,
    ZERO,
    -ZERO,
    float(np.nextafter(ZERO, 1)),
    -float(np.nextafter(ZERO, 1)),
]
_FAR = [1e36, -1e36, 1e9, -1e9]
_EPOCH = [1.7e9 + 0.5, 1_764_547_200.123, 1_764_547_200_123.0]
_CODES = [-1.0, -0.5, -3.0, 3e9, -3e9, 2.0**31, 2.0**31 - 1, 2.0**40, 0.999999, 1e300]
# A float64 link of another library may differ by some last bits; a row that takes another way differs by a leaf.
RELATIVE = 1e-14


@dataclass(frozen=True, eq=False)
class Probes:
    """Evaluation rows as they are, then rows with one value replaced.

    values: (n, n_features) float64; column: (n,) the one that was changed, -1 for none; kind: (n,) what was put there;
    origin: (n,) the row it was before.
    """

    values: np.ndarray
    column: np.ndarray
    kind: np.ndarray
    origin: np.ndarray


@dataclass(frozen=True)
class Difference:
    """What two sets of answers to the same rows differ in."""

    n_rows: int
    n_differ: int
    largest: float
    column: int | None  # the one whose change makes most rows differ; None where rows differ as they are
    kind: str | None  # and what most of them hold there


def probes(forest: Forest, base: np.ndarray, seed: int = 0, infinite: bool = True) -> Probes:
    """Rows of `base` (m, n_features) with one value replaced by one that matters to that column.

    At, just above and just below thresholds, nearest float32 values, NaN, infinity, zero and what is read as zero, far
    values, moments as epoch seconds; for categories unseen, negative, fractional and huge codes. infinite: False where
    the reference runtime refuses infinity.
    """
    random = np.random.default_rng(seed)
    plans = []
    used = sorted({int(f) for tree in forest.trees for f in np.unique(tree.feature)})
    for feature in used:
        thresholds, codes = _asked(forest, feature)
        values = _common(infinite) + (_code_values(codes) if len(codes) else [])
        picked = (
            thresholds if len(thresholds) <= _share(used) else random.choice(thresholds, _share(used), replace=False)
        )
        values += _near(picked)
        plans += [(feature, value, kind) for kind, value in values]
    if len(plans) > MOST_ROWS:
        plans = [plans[i] for i in np.sort(random.choice(len(plans), MOST_ROWS, replace=False))]
    whole = base[random.permutation(len(base))[:BASE_ROWS]] if len(base) else np.zeros((1, forest.n_features))
    origin = random.integers(0, len(whole), len(plans))
    changed = np.array(whole[origin], np.float64)
    columns = np.array([feature for feature, _, _ in plans], np.int64)
    changed[np.arange(len(plans)), columns] = [value for _, value, _ in plans]
    return Probes(
        values=np.concatenate([whole, changed]),
        column=np.concatenate([np.full(len(whole), -1), columns]),
        kind=np.array([AS_IT_IS] * len(whole) + [kind for _, _, kind in plans], dtype=np.str_),
        origin=np.concatenate([np.arange(len(whole)), origin]),
    )


def difference(right: np.ndarray, got: np.ndarray, made: Probes | None, relative: float) -> Difference:
    """Compare answers (n, …) of the same rows. Equal bits, or apart by at most `relative` of the value: the same."""
    a, b = (values.reshape(len(values), -1).astype(np.float64) for values in (right, got))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        gap = np.where(same, 0.0, np.abs(a - b))
        gap = np.where(np.isnan(gap), np.inf, gap)
        apart = np.asarray((gap > relative * np.abs(a)).any(axis=1))
    column, kind = _cause(apart, made) if made is not None and apart.any() else (None, None)
    return Difference(len(a), int(apart.sum()), float(gap.max(initial=0.0)), column, kind)


def _cause(apart: np.ndarray, made: Probes) -> tuple[int | None, str]:
    """Where the change of one value made the difference: the column, and what most of its rows hold."""
    caused = apart & (made.column >= 0) & ~apart[made.origin]
    if not caused.any():
        return None, AS_IT_IS
    column = int(np.bincount(made.column[caused]).argmax())
    kinds, counts = np.unique(made.kind[caused & (made.column == column)], return_counts=True)
    return column, str(kinds[counts.argmax()])


def _share(used: list[int]) -> int:
    return max(8, MOST_ROWS // 6 // max(1, len(used)))


def _asked(forest: Forest, feature: int) -> tuple[np.ndarray, np.ndarray]:
    """Thresholds of a feature, and the codes its sets know."""
    thresholds, codes = [np.zeros(0)], [np.zeros(0, np.int64)]
    for tree in forest.trees:
        mine = tree.feature == feature
        thresholds.append(tree.threshold[mine & ~tree.categorical])
        codes += [tree.categories(int(node)) for node in np.flatnonzero(mine & tree.categorical)]
    return np.unique(np.concatenate(thresholds)), np.unique(np.concatenate(codes))


def _common(infinite: bool) -> list[tuple[str, float]]:
    found = [("NaN", float("nan"))]
    found += [("infinity", sign * float("inf")) for sign in (1, -1)] if infinite else []
    found += [("zero or read as zero", value) for value in _TINY]
    found += [("far value", value) for value in _FAR]
    return found + [("epoch seconds", value) for value in _EPOCH]


def _code_values(codes: np.ndarray) -> list[tuple[str, float]]:
    known = codes[:: max(1, len(codes) // 40)].astype(np.float64)
    unseen = [float(codes.max() + 1), float(codes.max() + 100)]
    found = [("known category", value) for value in known.tolist()]
    found += [("fractional category", value + 0.7) for value in known.tolist()]
    return found + [("unseen or impossible category", value) for value in [*unseen, *_CODES]]


def _near(thresholds: np.ndarray) -> list[tuple[str, float]]:
    single = thresholds.astype(np.float32)
    steps = {
        "at a threshold": thresholds,
        "just above a threshold": np.nextafter(thresholds, np.inf),
        "just below a threshold": np.nextafter(thresholds, -np.inf),
        "float32 value beside a threshold": np.concatenate(
            [single, np.nextafter(single, np.float32(np.inf)), np.nextafter(single, np.float32(-np.inf))]
        ).astype(np.float64),
    }
    return [(kind, float(value)) for kind, values in steps.items() for value in values[np.isfinite(values)]]
