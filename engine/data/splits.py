"""Which rows train, select and certify (METHODS §2.1).

Rows are placed in units that stay whole: a group, else all rows with the same inputs. A unit's place depends on its
content and the seed alone, not on where it stands in the file. Every stratum (class, tenth of a number, or rarest label
of several) gives its share. Where the inputs repeat too often for that (fewer distinct rows than half, or one row more
often than 1 %), single rows are placed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.records import SplitName

Shares = tuple[tuple[SplitName, float], ...]
SHARES: Shares = (("train", 0.3), ("selection", 0.2), ("certification", 0.5))
TEST_SHARES: Shares = (("selection", 2 / 7), ("certification", 5 / 7))  # of rows that are only called test
EVALUATED: tuple[SplitName, ...] = ("selection", "certification")
MOST_CALIBRATION = 2_000
LEFT_OUT = -1
CODES: dict[SplitName, int] = {"train": 0, "calibration": 1, "selection": 2, "certification": 3}


@dataclass(frozen=True)
class Identity:
    """What makes rows the same. units: (n,) int64 number of the unit of each row; keys: (n_units, 2) uint64 digests."""

    units: np.ndarray
    keys: np.ndarray
    by_row: bool  # True: inputs repeat too often, single rows are placed and equal inputs are no leakage
    duplicate_fraction: float


def identify(digests: np.ndarray, groups: np.ndarray | None, row_ids: np.ndarray | None) -> Identity:
    """digests: (n, 2) uint64 of the inputs; groups, row_ids: (n, 2) uint64 digests of those columns, or None."""
    n_rows = len(digests)
    keys, units, counts = _distinct(digests)
    duplicates = 1.0 - len(keys) / n_rows
    by_row = len(keys) < 0.5 * n_rows or counts.max() > max(1.0, 0.01 * n_rows)
    if groups is not None:
        keys, units, _ = _distinct(groups)
    elif by_row:
        single = np.stack([np.arange(n_rows, dtype=np.uint64), np.zeros(n_rows, np.uint64)], axis=1)
        keys, units, _ = _distinct(row_ids if row_ids is not None else single)
    return Identity(units, keys, by_row, duplicates)


def _distinct(digests: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct digests, the place of each row among them, and how often each occurs."""
    flat = np.ascontiguousarray(digests).view([("a", np.uint64), ("b", np.uint64)]).ravel()
    _, first, inverse, counts = np.unique(flat, return_index=True, return_inverse=True, return_counts=True)
    return digests[first], inverse, counts


def strata_of(labels: np.ndarray | None, n_rows: int) -> np.ndarray:
    """(n,) int64: the class of each row, the tenth its number falls into, or its rarest label; -1 without a label."""
    if labels is None:
        return np.zeros(n_rows, np.int64)
    if labels.ndim == 2:
        return _rarest_label(labels)
    if labels.dtype.kind == "i":
        return labels
    known = ~np.isnan(labels)
    edges = np.quantile(labels[known], np.linspace(0.1, 0.9, 9))
    return np.where(known, np.searchsorted(edges, labels, side="right"), -1)


def _rarest_label(labels: np.ndarray) -> np.ndarray:
    """(n,) of several labels (n, k) the one that fewest rows have, k without any: so rare ones reach every split."""
    n_labels = labels.shape[1]
    given = labels == 1
    order = np.argsort(given.sum(axis=0), kind="stable")
    rarest = np.where(given.any(axis=1), order[given[:, order].argmax(axis=1)], n_labels)
    return np.where((labels >= 0).all(axis=1), rarest, -1)


def place(identity: Identity, strata: np.ndarray, seed: int, shares: Shares = SHARES) -> np.ndarray:
    """(n,) int8 split code per row: by default 30 % train, 20 % selection, 50 % certification of the labelled rows.

    strata -1 marks rows without a label: they train when nothing of their unit is judged, else they are left out.
    """
    labelled = strata >= 0
    of_unit = _main_stratum(identity, strata)
    sizes = np.bincount(identity.units[labelled], minlength=len(identity.keys))
    order = _random_order(identity.keys, seed)
    codes = np.full(len(identity.keys), CODES["train"], np.int8)
    carry = np.zeros(len(shares))
    for stratum in np.unique(of_unit[of_unit >= 0]):
        members = order[of_unit[order] == stratum]
        carry = _place_stratum(members, sizes[members], codes, carry, shares)
    placed: np.ndarray = codes[identity.units]
    judged = np.isin(placed, [CODES[name] for name in EVALUATED])
    placed[judged & ~labelled] = LEFT_OUT
    return placed


def _place_stratum(
    members: np.ndarray, sizes: np.ndarray, codes: np.ndarray, carry: np.ndarray, shares: Shares
) -> np.ndarray:
    """Cut the ordered units of a stratum at its share of rows; what rounding owes is carried to the next stratum."""
    total = int(sizes.sum())
    wished = np.array([share for _, share in shares]) * total + carry
    given = np.floor(np.maximum(wished, 0.0)).astype(np.int64)
    while given.sum() > total:
        given[np.argmax(given)] -= 1
    while given.sum() < total:
        given[np.argmax(wished - given)] += 1
    middles = np.cumsum(sizes) - sizes / 2
    part = np.searchsorted(np.cumsum(given)[:-1], middles, side="right")
    codes[members] = np.array([CODES[name] for name, _ in shares], np.int8)[part]
    taken = np.bincount(part, weights=sizes, minlength=len(shares))
    owed: np.ndarray = wished - taken
    return owed


def _main_stratum(identity: Identity, strata: np.ndarray) -> np.ndarray:
    """(n_units,) the most frequent stratum among a unit's labelled rows (the smallest of equals), -1 without any."""
    found = np.full(len(identity.keys), -1, np.int64)
    rows = np.flatnonzero(strata >= 0)
    if not len(rows):
        return found
    pairs, counts = np.unique(np.stack([identity.units[rows], strata[rows]], axis=1), axis=0, return_counts=True)
    order = np.lexsort((-pairs[:, 1], counts))  # the last one written wins: most frequent, then smallest
    found[pairs[order, 0]] = pairs[order, 1]
    return found


def _random_order(keys: np.ndarray, seed: int) -> np.ndarray:
    """Units in an order that looks random, decided by their digests and the seed."""
    mixed = _mix(keys[:, 0] ^ _mix(np.array([seed], np.uint64)))
    order: np.ndarray = np.lexsort((keys[:, 1], keys[:, 0], mixed))
    return order


def _mix(values: np.ndarray) -> np.ndarray:
    """SplitMix64 (Steele, Lea and Flood 2014): every input bit reaches every output bit."""
    values = values + np.uint64(0x9E3779B97F4A7C15)  # wraps round, as meant
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.ndarray = values ^ (values >> np.uint64(31))
    return mixed


def draw_calibration(rows: np.ndarray, strata: np.ndarray, keys: np.ndarray, seed: int) -> np.ndarray:
    """Up to 2,000 of the train rows, from every stratum its share; sorted row numbers.

    rows: (m,) row numbers; strata: (m,); keys: (m, 2) uint64 digests.
    """
    if len(rows) <= MOST_CALIBRATION:
        return np.sort(rows)
    order = _random_order(keys, seed + 1)
    share = np.empty(len(rows))
    for stratum in np.unique(strata):
        members = order[strata[order] == stratum]
        share[members] = (np.arange(len(members)) + 0.5) / len(members)
    chosen = order[np.argsort(share[order], kind="stable")[:MOST_CALIBRATION]]
    return np.sort(rows[chosen])
