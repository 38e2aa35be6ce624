"""Tables of the kernels for few rows: bit masks up to 64 leaves, a walk level by level above."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.errors import DoesNotFit
from engine.forest.binned.columns import MOST_MEMBER_BYTES, Binned, to_bits, to_words
from engine.forest.forest import Forest, Tree

MOST_LEAVES = 64  # of one tree: a word holds a bit per leaf
_LEAF_LIMIT = 0xFFFF  # nothing is above it: a leaf is its own left child


def row_tables(forest: Forest, binned: Binned, share: np.ndarray) -> tuple[str, dict[str, Any]]:
    """Name of the kernel and its arrays. share: (n_nodes,) how likely a node sends a row left."""
    if max(len(tree.leaf_value) for tree in forest.trees) <= MOST_LEAVES:
        n_members = sum((n_codes + 1) for n_codes in binned.codes[:, 1].tolist()) * int(binned.is_set.sum()) // 8
        if n_members <= MOST_MEMBER_BYTES:
            return "quickscorer", _quickscorer(forest, binned, share)
    return "level_walk", _levels(forest, binned)


def _quickscorer(forest: Forest, binned: Binned, share: np.ndarray) -> dict[str, Any]:
    """Entries sorted by column and side, then by threshold, so that those which apply to a bin are the first ones."""
    turned = share < 0.5
    n_trees, word = len(forest.trees), np.uint32 if max(len(t.leaf_value) for t in forest.trees) <= 32 else np.uint64
    bits = 8 * np.dtype(word).itemsize
    order = np.zeros((n_trees, bits), np.uint8)
    masks = np.zeros(len(turned), np.uint64)
    tree_of = np.repeat(np.arange(n_trees), np.diff(binned.first_node))
    for t, (tree, first) in enumerate(zip(forest.trees, binned.first_node.tolist(), strict=False)):
        places, ranges = _leaf_order(tree, turned[first : first + tree.n_nodes].tolist())
        order[t, : len(places)] = places
        for node, (start, end) in enumerate(ranges):
            masks[first + node] = ~np.uint64(((1 << (end - start)) - 1) << start)
    plain = np.flatnonzero(~binned.is_set)
    side, limit = turned[plain], binned.limit[plain]
    rank = np.where(side, -limit, limit)
    plain = plain[np.lexsort((tree_of[plain], rank, side, binned.column[plain]))]
    lists = 2 * binned.column[plain] + turned[plain]
    starts = np.searchsorted(lists, np.arange(2 * binned.n_columns))
    ends = np.searchsorted(lists, np.arange(2 * binned.n_columns), side="right")
    upto = []
    for v2, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        bins, limits = np.arange(binned.n_bins[v2 // 2]), np.sort(binned.limit[plain[start:end]])
        below = np.searchsorted(limits, bins)
        upto.append(end - below if v2 % 2 else start + below)
    ranks = np.cumsum([0, *(len(one) for one in upto)])[:-1] if upto else np.zeros(0, np.int64)
    sets, codes, members = _set_entries(binned, turned, tree_of)
    entries = np.concatenate([plain, sets])
    kept = np.where(entries >= 0, masks[entries], np.iinfo(np.uint64).max)
    return {
        "row_from": starts.astype(np.int32),
        "row_rank": ranks.astype(np.int32),
        "row_upto": np.concatenate([*upto, np.zeros(binned.table_size, np.int64)]).astype(np.int32),
        "row_tree": np.where(entries >= 0, tree_of[entries] if len(tree_of) else 0, 0).astype(np.int32),
        "row_masks": np.concatenate([[np.iinfo(np.uint64).max], kept]).astype(np.uint64).astype(word),
        "row_leaf": order,
        "row_codes": codes,
        "row_members": members,
        "first_set_entry": len(plain),
    }


def _leaf_order(tree: Tree, turned: list[bool]) -> tuple[list[int], list[tuple[int, int]]]:
    """Leaves from first to last; and for each node the leaves (start, end) that go when its likelier outcome fails."""
    places: list[int] = []
    ranges = [(0, 0)] * tree.n_nodes
    todo: list[tuple[int, int]] = [(0 if tree.n_nodes else -1, -1)]
    while todo:
        node, start = todo.pop()
        if node < 0:
            places.append(~node)
        elif start >= 0:
            ranges[node] = (start, len(places))
        else:
            likely, other = (int(tree.left[node]), int(tree.right[node]))[:: -1 if turned[node] else 1]
            todo += [(other, -1), (node, len(places)), (likely, -1)]
    return places, ranges


def _set_entries(binned: Binned, turned: np.ndarray, tree_of: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(nodes in the order of their entries, -1 for spare bits; codes; members: which entries apply to a category).

    Round the trees, so that one entry does not wait for the one before it.
    """
    nodes, codes, words = [np.zeros(0, np.int64)], [], []
    n_entries = n_words = 0
    for own, n_codes, width, at, first_set in binned.codes.tolist():
        mine = binned.is_set & (binned.limit >= first_set) & (binned.limit < first_set + 64 * width)
        entries = np.flatnonzero(mine)
        trees = tree_of[entries]
        turn = np.arange(len(trees)) - np.searchsorted(trees, trees)
        entries = entries[np.lexsort((trees, turn))]
        inside = to_bits(binned.members[at : at + (n_codes + 1) * width].reshape(n_codes + 1, width))
        applies = inside[:, binned.limit[entries] - first_set] == turned[entries]
        spare = -len(entries) % 64
        bits = np.pad(applies, ((0, 0), (0, spare)))
        words.append(to_words(bits))
        codes.append((own, n_codes, words[-1].shape[1], n_words, n_entries))
        nodes.append(np.concatenate([entries, np.full(spare, -1)]))
        n_entries, n_words = n_entries + len(nodes[-1]), n_words + words[-1].size
    members = np.concatenate([block.reshape(-1) for block in words]) if words else np.zeros(0, np.uint64)
    return np.concatenate(nodes), np.array(codes, np.int64).reshape(-1, 5), members


def _levels(forest: Forest, binned: Binned) -> dict[str, Any]:
    """Siblings side by side, leaves their own left child; trees from the deepest to the shallowest."""
    if binned.n_columns + 64 * int(binned.codes[:, 2].sum()) > _LEAF_LIMIT:
        raise DoesNotFit("too many columns and category sets for trees of more than 64 leaves: 16 bits number them")
    nodes: list[int] = []
    leaves: list[int] = []
    roots, depths = [], []
    first_leaf = np.cumsum([0, *(len(tree.leaf_value) for tree in forest.trees)]).tolist()
    column = np.where(binned.is_set, binned.n_columns + binned.limit, binned.column).tolist()
    limit = np.where(binned.is_set, 0, binned.limit).tolist()
    for t, tree in enumerate(forest.trees):
        left, right, first = tree.left.tolist(), tree.right.tolist(), int(binned.first_node[t])
        roots.append(len(nodes))
        nodes.append(0)
        leaves.append(0)
        level, depth = [(0 if tree.n_nodes else -1, len(nodes) - 1)], 0
        while level:
            below = []
            for node, place in level:
                if node < 0:
                    nodes[place] = _LEAF_LIMIT << 16 | place << 32
                    leaves[place] = first_leaf[t] + ~node
                    continue
                child = len(nodes)
                nodes += [0, 0]
                leaves += [0, 0]
                nodes[place] = column[first + node] | limit[first + node] << 16 | child << 32
                below += [(left[node], child), (right[node], child + 1)]
            level, depth = below, depth + bool(below)
        depths.append(depth)
    order = np.argsort(-np.array(depths), kind="stable")
    sorted_depths = np.array(depths)[order]
    return {
        "row_nodes": np.array([*nodes, 0], np.uint64),
        "row_leaf": np.array([*leaves, 0], np.int32),
        "row_root": np.array(roots, np.int32)[order],
        "row_order": order.astype(np.int32),
        "row_level": np.array([(sorted_depths > d).sum() for d in range(max(depths))], np.int32),
    }
