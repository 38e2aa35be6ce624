"""Slices nobody declared: looked for on one half of the rows, looked at again on the other.

SliceLine (Sagadeeva and Boehm 2021, SIGMOD) finds the conditions under which most is lost. What was found on some rows
always looks bad on them, so only the other half says whether it is: with Holm's correction, and as exploratory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats

from engine.quality.harm import holm
from engine.quality.judged import Judged
from engine.quality.means import variance_of_sum
from engine.quality.metrics import MEASURES
from engine.records import FoundSlice, Metric

Column = tuple[np.ndarray, Sequence[str]]  # (n,) codes from 0, and what each code means
MOST_ROWS = 200_000
MOST_COLUMNS = 40
MOST_VALUES = 50
N_SLICES = 5
N_CONDITIONS = 2
SIZE_AGAINST_ERROR = 0.95  # SliceLine's alpha: the weight of the error; the rest is the weight of the size
SURE = 0.05
READ_AS: dict[Metric, Metric] = {  # metrics without a loss per row, and the one that stands in
    "f1": "accuracy",
    "macro_f1": "accuracy",
    "micro_f1": "accuracy",
    "roc_auc": "brier",
    "macro_roc_auc": "brier",
    "pr_auc": "brier",
}


def row_losses(judged: Judged, metric: Metric) -> np.ndarray | None:
    """(n,) what the candidate loses on each row, 0 where nothing; None where the metric has no loss per row.

    1 where only the baseline is right (of several labels: the share where it is), or the candidate's loss where it is
    larger than the baseline's.
    """
    if metric == "ndcg_at_10":
        return None
    stands_in = READ_AS.get(metric, metric)
    read = MEASURES[stands_in].read
    before, after = (read(answers, judged.labels, judged.tau) for answers in (judged.baseline, judged.candidate))
    if before.dtype == bool:
        lost = before & ~after
        shares: np.ndarray = lost.mean(axis=1) if lost.ndim == 2 else lost.astype(float)
        return shares
    losses: np.ndarray = np.maximum(0.0, after - before)
    return losses


def find_slices(
    columns: Mapping[str, Column],
    losses: np.ndarray,
    units: np.ndarray | None = None,
    *,
    least_rows: int,
    seed: int = 0,
) -> tuple[FoundSlice, ...]:
    """At most five conjunctions of one or two conditions, each with at least `least_rows` rows in the first half.

    losses: (n,) 0 or more; units: (n,) groups, which are kept in one half. Above 200,000 rows a seeded sample is used.
    """
    rng = np.random.default_rng(seed)
    rows = np.arange(len(losses))
    if len(rows) > MOST_ROWS:
        rows = np.sort(rng.choice(len(rows), MOST_ROWS, replace=False))
    names = [name for name, (codes, values) in columns.items() if 1 < len(np.unique(codes[rows])) <= MOST_VALUES]
    names = names[:MOST_COLUMNS]
    half = _half(rows if units is None else units[rows], rng)
    if not names or half.sum() < least_rows or not losses[rows[half]].any():
        return ()
    table = np.stack([columns[name][0][rows] for name in names], axis=1) + 1
    found = _search(table[half], losses[rows[half]], least_rows)
    other = ~half
    p_values, slices = [], []
    for conditions in found:
        inside = np.ones(int(other.sum()), bool)
        for at, code in conditions.items():
            inside &= table[other, at] == code
        if not 1 < inside.sum() < len(inside) - 1:
            continue
        lost = losses[rows[other]]
        p_values.append(_harm_p(lost, inside, None if units is None else units[rows[other]]))
        slices.append((conditions, inside, lost))
    return tuple(
        FoundSlice(
            conditions={names[at]: columns[names[at]][1][code - 1] for at, code in conditions.items()},
            n_rows=int(inside.sum()),
            mean_loss=float(lost[inside].mean()),
            mean_loss_elsewhere=float(lost[~inside].mean()),
            harm_p=p,
            confirmed=p < SURE,
        )
        for (conditions, inside, lost), p in zip(slices, holm(p_values), strict=True)
    )


def _half(units: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n,) bool: a random half of the units."""
    codes = np.unique(units, return_inverse=True)[1]
    chosen: np.ndarray = (rng.permutation(int(codes.max()) + 1) % 2 == 0)[codes]
    return chosen


def _search(table: np.ndarray, losses: np.ndarray, least_rows: int) -> list[dict[int, int]]:
    """Conditions column -> code of the slices where most is lost, worst first. table: (n, k) codes from 1."""
    from sliceline.slicefinder import Slicefinder

    finder = Slicefinder(
        alpha=SIZE_AGAINST_ERROR, k=N_SLICES, max_l=N_CONDITIONS, min_sup=least_rows, verbose=False
    ).fit(table, losses)
    found = [
        {at: int(code) for at, code in enumerate(conditions) if code is not None} for conditions in finder.top_slices_
    ]
    return found[:N_SLICES]


def _harm_p(losses: np.ndarray, inside: np.ndarray, units: np.ndarray | None) -> float:
    """One-sided p of "no more is lost inside than elsewhere": Fisher's exact test for 0-1 losses, else a z test."""
    if units is None and np.isin(losses, (0.0, 1.0)).all():
        n_lost = int(losses.sum())
        return float(stats.hypergeom.sf(losses[inside].sum() - 1, len(losses), n_lost, int(inside.sum())))
    more = losses[inside].mean() - losses[~inside].mean()
    residuals = np.where(inside, losses - losses[inside].mean(), losses[~inside].mean() - losses)
    residuals /= np.where(inside, inside.sum(), (~inside).sum())
    variance = variance_of_sum(residuals, units)
    return float(stats.norm.sf(more / math.sqrt(variance))) if variance > 0 else 1.0 if more <= 0 else 0.0
