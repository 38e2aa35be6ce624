"""The kernels of a binned forest, as plain Python that runs as it stands (slowly); `jit` compiles them.

One file on purpose: numba's cache watches the file of a kernel and not the files of its helpers.

bin: how many thresholds of its feature lie below a value; column: the bins of a feature with one rule for NaN and 0;
slot: one byte per row of a block, the leaf that the row reaches from some node; set: categories that go left.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .vectors import LANES, lowest_bit, select, select_members

NARROW, BLOCK = LANES, 512  # rows of a block: one vector of bytes, or eight
TREES = 4  # whose leaves are added in one pass
SET_COLUMN = 0xFFFF  # a block node with this column asks for a set
IDENTITY, SIGMOID, SOFTMAX, EXP, SIGNED_SQUARE, LOG1P_EXP = range(6)
# Where the row kernels find what in `head`; the names ending in _AT are positions in `ints`.
N_FEATURES, TABLE, N_COLUMNS, N_TREES, N_CLASSES, LINK, N_CODES, STRIDE, N_LEVELS = range(9)
FEATURE_AT, START_AT, NAN_AT, ZERO_AT, CODE_AT = range(9, 14)
FROM_AT, RANK_AT, UPTO_AT, TREE_AT = range(14, 18)  # quickscorer
ROOT_AT, LEVEL_AT, ORDER_AT, LEAF_AT = range(14, 18)  # level_walk
ZERO_WIDTH, SLOPE, ROUNDS, THRESHOLDS = 0, 1, 2, 3  # the same for `reals`; the leaves follow the thresholds


def code_row(value: Any, n_codes: Any) -> Any:
    """Row of a category in a table of members: cut to a whole number; the last row for what no set holds."""
    return int(value) if value > -1.0 and value < n_codes else n_codes


def transpose(words: Any, width: int) -> None:
    """64 rows of `width` words: bit i of word g in row k becomes bit k of word g in row i (Hacker's Delight, 7-3)."""
    step = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while step:
        shift = np.uint64(step)
        k = 0
        while k < 64:
            a, b = k * width, (k + step) * width
            for g in range(width):
                x, y = words[a + g], words[b + g]
                changed = ((x >> shift) ^ y) & mask
                words[b + g] = y ^ changed
                words[a + g] = x ^ (changed << shift)
            k = (k + step + 1) & ~step
        step >>= 1
        if step:
            mask ^= mask << np.uint64(step)


def member_masks(
    rows: Any, start: int, n_rows: int, n_groups: int, codes: Any, c: int, members: Any, words: Any, masks: Any
) -> None:
    """For each set of category feature c and each 64 rows: one bit per row, set where it is a member."""
    feature, n_codes, width, at, first_set = codes[c, 0], codes[c, 1], codes[c, 2], codes[c, 3], codes[c, 4]
    for group in range((n_rows + LANES - 1) // LANES):
        for k in range(64):
            i = group * 64 + k
            row = n_codes
            if i < n_rows:
                row = code_row(np.float64(rows[start + i, feature]), n_codes)
            for g in range(width):
                words[k * width + g] = members[at + row * width + g]
        transpose(words, width)
        for g in range(width):
            for k in range(64):
                masks[(first_set + g * 64 + k) * n_groups + group] = words[k * width + g]


def finish(out: Any, first: int, last: int, link: int, slope: float, rounds: float) -> None:
    """Average and link, with the exponential of the C library: the same bits as LightGBM's."""
    n_classes = out.shape[1]
    for i in range(first, last):
        top, total = out[i, 0] / rounds, 0.0
        for c in range(n_classes):
            raw = out[i, c] / rounds
            top = raw if raw > top else top
            if link == SIGMOID:
                raw = 1.0 / (1.0 + math.exp(-slope * raw))
            elif link == EXP:
                raw = math.exp(raw)
            elif link == SIGNED_SQUARE:
                raw *= math.fabs(raw)
            elif link == LOG1P_EXP:
                raw = math.log1p(math.exp(raw))
            out[i, c] = raw
        if link == SOFTMAX:
            for c in range(n_classes):
                out[i, c] = math.exp(out[i, c] - top)
                total += out[i, c]
            for c in range(n_classes):
                out[i, c] /= total


def add_leaves(
    sums: Any, n_words: int, reached: Any, at: int, step: int, tree_leaf: Any, first: int, last: int, leaf: Any
) -> None:
    """Add the leaves that every row reached in the trees first … last, at most four, tree after tree.

    reached: slots as words of 8 rows; the trees' root slots begin at `at`, `at + step`, …
    """
    low = np.uint64(0xFF)
    if last - first == TREES:
        a, b = np.uint64(tree_leaf[first]), np.uint64(tree_leaf[first + 1])
        c, d = np.uint64(tree_leaf[first + 2]), np.uint64(tree_leaf[first + 3])
        for w in range(n_words):
            word_a, word_b = reached[at + w], reached[at + step + w]
            word_c, word_d = reached[at + 2 * step + w], reached[at + 3 * step + w]
            for j in range(8):
                shift, k = np.uint64(8 * j), 8 * w + j
                total = sums[k] + leaf[a + ((word_a >> shift) & low)] + leaf[b + ((word_b >> shift) & low)]
                sums[k] = total + leaf[c + ((word_c >> shift) & low)] + leaf[d + ((word_d >> shift) & low)]
        return
    for tree in range(first, last):
        a, own = np.uint64(tree_leaf[tree]), at + (tree - first) * step
        for w in range(n_words):
            word_a = reached[own + w]
            for j in range(8):
                sums[8 * w + j] += leaf[a + ((word_a >> np.uint64(8 * j)) & low)]


def block_kernel(n_steps: int, sets: bool, width: int) -> Callable[..., None]:
    """For batches: every node of every tree is evaluated for a whole block of rows, without a branch.

    n_steps: of the binary search; sets: there are categorical nodes; width: rows of a block.
    Trees come class by class, four at a time: their leaves are added in one pass over the rows, in the model's order.
    columns … words: room to work in, see `tables.block_room`.
    """

    def block(  # noqa: PLR0912 - one function, so that nothing is called per node
        rows: Any, first: int, last: int, shape: Any, scale: Any, features: Any, thresholds: Any, starts: Any,
        nans: Any, zeros: Any, codes: Any, members: Any, nodes: Any, tree_node: Any, tree_leaf: Any, leaf: Any,
        columns: Any, slots: Any, reached: Any, found: Any, sums: Any, masks: Any, words: Any, out: Any,
    ) -> None:  # fmt: skip
        size, root, n_classes, n_rounds = shape[0], shape[1], shape[2], shape[3]
        n_groups = width // LANES
        for start in range(first, last, width):
            n_rows = width if start + width < last else last - start
            own_groups = (n_rows + LANES - 1) // LANES
            for u in range(features.shape[0]):
                f, table = features[u], np.uint64(u * size)
                for k in range(n_rows):
                    x = np.float64(rows[start + k, f])
                    p = table
                    for s in range(n_steps):
                        half = np.uint64(1) << np.uint64(n_steps - 1 - s)
                        p += half if thresholds[p + half - np.uint64(1)] < x else np.uint64(0)
                    found[k] = p - table
                for v in range(starts[u], starts[u + 1]):
                    nan, zero, column = nans[v], zeros[v], v * width
                    for k in range(n_rows):
                        x = np.float64(rows[start + k, f])
                        q = zero if math.fabs(x) <= scale[ZERO_WIDTH] else found[k]
                        columns[column + k] = nan if x != x else q  # noqa: PLR0124 - NaN
            if sets:
                for c in range(codes.shape[0]):
                    member_masks(rows, start, n_rows, n_groups, codes, c, members, words, masks)
            for c in range(n_classes):
                for k in range(width):
                    sums[k] = 0.0
                end = (c + 1) * n_rounds
                for t in range(c * n_rounds, end, TREES):
                    upto = t + TREES if t + TREES < end else end
                    for i in range(tree_node[t], tree_node[upto]):
                        asked, limit = np.intp(nodes[i, 0]), np.intp(nodes[i, 1])
                        left, right = np.intp(nodes[i, 2]) * width, np.intp(nodes[i, 3]) * width
                        to = np.intp(nodes[i, 4]) * width
                        if sets and asked == SET_COLUMN:
                            for o in range(own_groups):
                                at = o * LANES
                                select_members(masks, limit * n_groups + o, slots, left + at, right + at, to + at)
                        elif own_groups == n_groups:
                            for o in range(0, width, LANES):
                                select(columns, asked * width + o, limit, slots, left + o, right + o, to + o)
                        else:
                            for o in range(0, own_groups * LANES, LANES):
                                select(columns, asked * width + o, limit, slots, left + o, right + o, to + o)
                    n_words, step = own_groups * (LANES // 8), width // 8
                    add_leaves(sums, n_words, reached, root * step, step, tree_leaf, t, upto, leaf)
                for k in range(n_rows):
                    out[start + k, c] = sums[k]
        finish(out, first, last, shape[4], scale[SLOPE], scale[ROUNDS])

    return block


def row_bins(rows: Any, i: int, head: Any, reals: Any, ints: Any, bins: Any) -> None:
    """Bins of every column of one row."""
    size = np.uint64(head[TABLE])
    for u in range(head[N_FEATURES]):
        x = np.float64(rows[i, ints[head[FEATURE_AT] + u]])
        table, p, half = np.uint64(THRESHOLDS) + np.uint64(u) * size, np.uint64(0), size >> np.uint64(1)
        while half > np.uint64(0):
            p += half if reals[table + p + half - np.uint64(1)] < x else np.uint64(0)
            half >>= np.uint64(1)
        for v in range(ints[head[START_AT] + u], ints[head[START_AT] + u + 1]):
            q = np.int64(ints[head[ZERO_AT] + v]) if abs(x) <= reals[ZERO_WIDTH] else np.int64(p)
            bins[v] = np.int64(ints[head[NAN_AT] + v]) if x != x else q  # noqa: PLR0124 - NaN


def quickscorer(
    rows: Any, first: int, last: int, head: Any, reals: Any, ints: Any, masks: Any, members: Any, bins: Any, alive: Any,
    out: Any,
) -> None:  # fmt: skip
    """For few rows and at most 64 leaves: each node that sends the row away strikes the leaves behind it.

    Lucchese et al., QuickScorer (SIGIR 2015), with every node turned so that the likelier outcome needs no work.
    masks: all leaves alive, then what each entry leaves alive. The entries of a column are sorted: those that apply are
    the first ones, up to a position kept for every bin. The first leaf that is alive is the one reached.
    """
    n_trees, n_classes, n_columns, stride = head[N_TREES], head[N_CLASSES], head[N_COLUMNS], head[STRIDE]
    # unsigned positions: numba asks of each signed one whether it is negative
    trees, one = np.uint64(head[TREE_AT]), np.uint64(1)
    leaves = np.int64(THRESHOLDS) + head[N_FEATURES] * head[TABLE]
    for i in range(first, last):
        row_bins(rows, i, head, reals, ints, bins)
        for t in range(n_trees):
            alive[t] = masks[0]
        for side in range(2 * n_columns):
            upto = ints[head[UPTO_AT] + np.int64(ints[head[RANK_AT] + side]) + bins[side >> 1]]
            for j in range(np.uint64(ints[head[FROM_AT] + side]), np.uint64(upto)):
                alive[ints[trees + j]] &= masks[j + one]
        for c in range(head[N_CODES]):
            at = head[CODE_AT] + 5 * c
            n_codes, width = np.int64(ints[at + 1]), np.int64(ints[at + 2])
            row = code_row(np.float64(rows[i, ints[at]]), n_codes)
            word_at, entry = np.int64(ints[at + 3]) + row * width, np.uint64(ints[at + 4])
            for g in range(width):
                word = members[word_at + g]
                while word != np.uint64(0):
                    e = entry + np.uint64(64 * g) + lowest_bit(word)
                    word &= word - one
                    alive[ints[trees + e]] &= masks[e + one]
        for c in range(n_classes):
            total = 0.0
            for t in range(c, n_trees, n_classes):
                total += reals[leaves + t * stride + np.int64(lowest_bit(np.uint64(alive[t])))]
            out[i, c] = total
    finish(out, first, last, head[LINK], reals[SLOPE], reals[ROUNDS])


def level_walk(
    rows: Any, first: int, last: int, head: Any, reals: Any, ints: Any, nodes: Any, members: Any, bins: Any, place: Any,
    reached: Any, out: Any,
) -> None:  # fmt: skip
    """For few rows and any number of leaves: all trees take one step down, then the next; trees sorted by depth.

    nodes: column (16 bits), limit (16 bits), position of the left child (32 bits), the right one behind it; a leaf's
    left child is itself. A set is a column that is 0 for a member and 1 otherwise.
    """
    n_trees, n_classes, n_columns = head[N_TREES], head[N_CLASSES], head[N_COLUMNS]
    leaves = np.int64(THRESHOLDS) + head[N_FEATURES] * head[TABLE]
    low, one = np.uint64(0xFFFF), np.uint64(1)
    for i in range(first, last):
        row_bins(rows, i, head, reals, ints, bins)
        for c in range(head[N_CODES]):
            at = head[CODE_AT] + 5 * c
            n_codes, width = np.int64(ints[at + 1]), np.int64(ints[at + 2])
            row = code_row(np.float64(rows[i, ints[at]]), n_codes)
            word_at, to = np.int64(ints[at + 3]) + row * width, n_columns + np.int64(ints[at + 4])
            for g in range(width):
                word = members[word_at + g]
                for k in range(64):
                    bins[to + 64 * g + k] = np.uint16(((word >> np.uint64(k)) & one) ^ one)
        for t in range(n_trees):
            place[t] = ints[head[ROOT_AT] + t]
        for d in range(head[N_LEVELS]):
            for t in range(np.int64(ints[head[LEVEL_AT] + d])):
                node = nodes[place[t]]
                right = bins[node & low] > np.uint16((node >> np.uint64(16)) & low)
                place[t] = np.uint32(node >> np.uint64(32)) + np.uint32(right)
        for t in range(n_trees):
            reached[ints[head[ORDER_AT] + t]] = reals[leaves + np.int64(ints[head[LEAF_AT] + np.int64(place[t])])]
        for c in range(n_classes):
            total = 0.0
            for t in range(c, n_trees, n_classes):
                total += reached[t]
            out[i, c] = total
    finish(out, first, last, head[LINK], reals[SLOPE], reals[ROUNDS])
