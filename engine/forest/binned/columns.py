"""Thresholds, columns and sets of a forest, with the node arrays in their terms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.errors import DoesNotFit
from engine.forest.forest import MISSING_NAN, MISSING_NONE, MISSING_ZERO, ZERO, Forest

MOST_THRESHOLDS = 0xFFFF - 1  # of one feature: bins have 16 bits, and one of them lies above every threshold
MOST_SETS = 0xFFFF - 64  # different category sets of the whole forest
MOST_MEMBER_BYTES = 1 << 28
_ZERO_LEFT, _ZERO_RIGHT, _NAN_LEFT, _NAN_RIGHT, _NONE = range(5)


@dataclass(frozen=True, eq=False)
class Binned:
    """Every node of a forest, tree after tree, in bins.

    column: the column a node asks, 0 for a set; limit: place of the threshold, or number of the set;
    n_bins: (n_columns,) bins of each column; features … members: as in `engine.forest.serve`.
    """

    features: np.ndarray
    thresholds: tuple[np.ndarray, ...]
    starts: np.ndarray
    nans: np.ndarray
    zeros: np.ndarray
    n_bins: np.ndarray
    codes: np.ndarray
    members: np.ndarray
    is_set: np.ndarray
    column: np.ndarray
    limit: np.ndarray
    first_node: np.ndarray  # (n_trees + 1,)

    @property
    def n_columns(self) -> int:
        """Columns that hold bins."""
        return len(self.nans)

    @property
    def wide(self) -> bool:
        """True when bins need 16 bits."""
        return self.table_size > 256

    @property
    def table_size(self) -> int:
        """Entries of a threshold table: a power of two above the number of thresholds, at least 256."""
        most = max((len(values) for values in self.thresholds), default=0)
        return 1 << max(8, most.bit_length())


def bin_forest(forest: Forest) -> Binned:
    """Raises DoesNotFit where 16 bits do not suffice."""
    joined = {
        name: np.concatenate([getattr(tree, name) for tree in forest.trees])
        for name in ("feature", "threshold", "categorical", "missing", "default_left")
    }
    is_set = joined["categorical"]
    codes, members, numbers = _sets(forest, joined["feature"])
    plain = np.flatnonzero(~is_set)
    feature, threshold = joined["feature"][plain], joined["threshold"][plain]
    left, missing = joined["default_left"][plain], joined["missing"][plain]
    rule = np.select(
        [missing == MISSING_ZERO, missing == MISSING_NAN],
        [np.where(left, _ZERO_LEFT, _ZERO_RIGHT), np.where(left, _NAN_LEFT, _NAN_RIGHT)],
        _NONE,
    )
    assert np.isin(missing, (MISSING_NONE, MISSING_ZERO, MISSING_NAN)).all()
    features, place = np.unique(feature, return_inverse=True)
    thresholds = tuple(np.unique(threshold[place == u]) for u in range(len(features)))
    limit = np.zeros(len(is_set), np.int64)
    for u, values in enumerate(thresholds):
        if len(values) > MOST_THRESHOLDS:
            raise DoesNotFit(
                f"feature {forest.feature_names[features[u]]!r} has {len(values):,} different thresholds, bins of 16 "
                f"bits hold {MOST_THRESHOLDS:,}; use fewer trees or fewer leaves, or another runtime"
            )
        limit[plain[place == u]] = np.searchsorted(values, threshold[place == u])
    keys, column = np.unique(place * 5 + rule, return_inverse=True)
    of_feature, of_rule = keys // 5, keys % 5
    n_bins = np.array([len(thresholds[u]) + 1 for u in of_feature], np.int64)
    zero_bin = np.array([np.searchsorted(thresholds[u], 0.0) for u in of_feature], np.int64)
    above = n_bins - 1
    columns = np.zeros(len(is_set), np.int64)
    columns[plain] = column
    limit[is_set] = numbers
    binned = Binned(
        features=features.astype(np.int32),
        thresholds=thresholds,
        starts=np.searchsorted(of_feature, np.arange(len(features) + 1)).astype(np.int32),
        nans=np.choose(of_rule, [0, above, 0, above, zero_bin]),
        zeros=np.choose(of_rule, [0, above, zero_bin, zero_bin, zero_bin]),
        n_bins=n_bins,
        codes=codes,
        members=members,
        is_set=is_set,
        column=columns,
        limit=limit,
        first_node=np.cumsum([0, *(tree.n_nodes for tree in forest.trees)]),
    )
    if binned.n_columns >= 0xFFFF:
        raise DoesNotFit(f"the trees ask {binned.n_columns:,} columns, 16 bits number 65,534")
    return binned


def _sets(forest: Forest, feature: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(codes, members, number of the set of every categorical node); equal sets of a feature are one."""
    numbers: dict[int, dict[bytes, int]] = {}
    found: list[tuple[int, int]] = []
    values: dict[int, list[np.ndarray]] = {}
    at = 0
    for tree in forest.trees:
        for node in np.flatnonzero(tree.categorical).tolist():
            own = int(feature[at + node])
            categories = tree.categories(node)
            known = numbers.setdefault(own, {})
            number = known.setdefault(categories.tobytes(), len(known))
            if number == len(values.setdefault(own, [])):
                values[own].append(categories)
            found.append((own, number))
        at += tree.n_nodes
    codes, words, first = [], [], {}
    n_sets = n_words = 0
    for own, sets in sorted(values.items()):
        n_codes, width = 1 + max((int(one[-1]) for one in sets if len(one)), default=-1), -(-len(sets) // 64)
        first[own] = n_sets
        codes.append((own, n_codes, width, n_words, n_sets))
        n_sets, n_words = n_sets + 64 * width, n_words + (n_codes + 1) * width
        if n_sets > MOST_SETS or 8 * n_words > MOST_MEMBER_BYTES:
            raise DoesNotFit(
                f"too many category sets ({n_sets:,}) or category codes (up to {n_codes:,}) for a binned forest"
            )
        words.append(member_words(sets, n_codes))
    members = np.concatenate([block.reshape(-1) for block in words]) if words else np.zeros(0, np.uint64)
    numbered = np.array([first[own] + number for own, number in found], np.int64)
    return np.array(codes, np.int64).reshape(-1, 5), members, numbered


def member_words(sets: list[np.ndarray], n_codes: int) -> np.ndarray:
    """(n_codes + 1, words) uint64: bit j of row c is set where category c is in sets[j]; the last row is empty."""
    bits = np.zeros((n_codes + 1, 64 * -(-len(sets) // 64)), np.uint8)
    for j, categories in enumerate(sets):
        bits[categories, j] = 1
    return to_words(bits)


def to_words(bits: np.ndarray) -> np.ndarray:
    """(n, 64 k) booleans as (n, k) uint64, the first one in the lowest bit."""
    packed = np.ascontiguousarray(np.packbits(bits, axis=1, bitorder="little"))
    return packed.view("<u8").astype(np.uint64)


def to_bits(words: np.ndarray) -> np.ndarray:
    """The way back, as uint8 0 and 1."""
    return np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")


def shares_left(binned: Binned, rows: np.ndarray | None) -> np.ndarray:
    """(n_nodes,) how likely each node sends a row left, whatever came before: counted on rows, or by rank without any.

    rows: (m, n_features) float64 or None.
    """
    share = np.full(len(binned.limit), 0.5)
    if rows is None or not len(rows):
        plain = ~binned.is_set
        share[plain] = (binned.limit[plain] + 1) / binned.n_bins[binned.column[plain]]
        return share
    of_feature = np.repeat(np.arange(len(binned.features)), np.diff(binned.starts))
    for v, u in enumerate(of_feature):
        x = rows[:, binned.features[u]]
        bins = np.searchsorted(binned.thresholds[u], x)
        bins = np.where(np.isnan(x), binned.nans[v], np.where(np.abs(x) <= ZERO, binned.zeros[v], bins))
        below = np.cumsum(np.bincount(bins, minlength=binned.n_bins[v])) / len(rows)
        mine = ~binned.is_set & (binned.column == v)
        share[mine] = below[binned.limit[mine]]
    for own, n_codes, width, at, first_set in binned.codes.tolist():
        x = rows[:, own]
        row = np.where((x > -1) & (x < n_codes), x, n_codes).astype(np.int64)
        inside = to_bits(binned.members[at : at + (n_codes + 1) * width].reshape(n_codes + 1, width))
        of_set = np.bincount(row, minlength=n_codes + 1) / len(rows) @ inside
        mine = binned.is_set & (binned.limit >= first_set) & (binned.limit < first_set + 64 * width)
        share[mine] = of_set[binned.limit[mine] - first_set]
    return share
