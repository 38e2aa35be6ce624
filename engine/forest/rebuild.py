"""Trees with nodes taken out: cut off below a node, or a node replaced by one of its sides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.forest.forest import Tree

KEEP, CUT, LEFT, RIGHT = range(4)  # what becomes of a node: stays, becomes a leaf, gives way to one of its sides
_PER_NODE = ("split_gain", "internal_value", "internal_weight", "internal_count")
_PER_LEAF = ("leaf_weight", "leaf_count")


def rebuild(tree: Tree, action: np.ndarray, value: np.ndarray | None = None) -> Tree:
    """The tree after `action` (n_nodes,); value: (n_nodes,) leaf value of the nodes that are cut.

    Statistics are kept where they stay true: not when a side was taken out, because its rows go elsewhere now.
    """
    assert not tree.linear, "linear leaves cannot be merged"
    nodes, ends, left, right = _walk(tree, action)
    kept = np.array(nodes, np.int64)
    threshold, bounds, words = _sets(tree, kept)
    return Tree(
        feature=tree.feature[kept],
        threshold=threshold,
        decision=tree.decision[kept],
        left=np.array(left, np.int32),
        right=np.array(right, np.int32),
        leaf_value=np.array([_value(tree, value, end) for end in ends], np.float64),
        set_bounds=bounds,
        set_words=words,
        rest=_statistics(tree, action, kept, ends),
    )


def _walk(tree: Tree, action: np.ndarray) -> tuple[list[int], list[int], list[int], list[int]]:
    """Old numbers of the nodes and of the leaves (>= 0: a cut node, < 0: leaf ~end) in new order, and the children."""
    sides = (tree.left.tolist(), tree.right.tolist())
    act = action.tolist()

    def landed(child: int) -> int:
        while child >= 0 and act[child] in (LEFT, RIGHT):
            child = sides[act[child] - LEFT][child]
        return child

    nodes: list[int] = []
    ends: list[int] = []
    children: tuple[list[int], list[int]] = ([], [])
    waiting: list[tuple[int, int, int]] = []
    root = landed(0) if act else -1
    if root < 0 or act[root] == CUT:
        return [], [root], [], []
    waiting.append((root, -1, 0))
    while waiting:
        old, parent, side = waiting.pop()
        new = len(nodes)
        nodes.append(old)
        if parent >= 0:
            children[side][parent] = new
        for numbers in children:
            numbers.append(0)
        for at in (1, 0):
            child = landed(sides[at][old])
            if child >= 0 and act[child] == KEEP:
                waiting.append((child, new, at))
            else:
                children[at][new] = ~len(ends)
                ends.append(child)
    return nodes, ends, children[0], children[1]


def _value(tree: Tree, value: np.ndarray | None, end: int) -> float:
    if end < 0:
        return float(tree.leaf_value[~end])
    assert value is not None, "a node that is cut needs a value"
    return float(value[end])


def _sets(tree: Tree, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Thresholds and category sets without the sets that no node uses any more."""
    threshold = tree.threshold[kept].copy()
    categorical = np.flatnonzero((tree.decision[kept] & 1) == 1)
    parts = [
        tree.set_words[tree.set_bounds[int(p)] : tree.set_bounds[int(p) + 1]] for p in threshold[categorical].tolist()
    ]
    threshold[categorical] = np.arange(len(parts))
    bounds = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    return threshold, bounds, np.concatenate(parts) if parts else np.zeros(0, np.uint32)


def _statistics(tree: Tree, action: np.ndarray, kept: np.ndarray, ends: list[int]) -> dict[str, str]:
    rest = {"shrinkage": tree.rest["shrinkage"]} if "shrinkage" in tree.rest else {}
    if np.isin(action, (LEFT, RIGHT)).any():
        return rest
    for key in _PER_NODE:
        if words := tree.rest.get(key, "").split():
            rest[key] = " ".join(words[at] for at in kept.tolist())
    for key in _PER_LEAF:
        if key in tree.rest and (words := tree.rest[key].split()):
            per_leaf = np.array(words, np.float64)
            below = node_sums(tree.left, tree.right, per_leaf)
            found = [below[end] if end >= 0 else per_leaf[~end] for end in ends]
            rest[key] = " ".join(str(round(one)) if key == "leaf_count" else repr(float(one)) for one in found)
    return rest


def node_sums(left: np.ndarray, right: np.ndarray, per_leaf: np.ndarray) -> np.ndarray:
    """(n_nodes,) sums of a leaf quantity (n_leaves,) over the leaves below each node."""
    sums = np.zeros(len(left))
    for node in range(len(left) - 1, -1, -1):  # children stand behind their parent
        for child in (left[node], right[node]):
            sums[node] += sums[child] if child >= 0 else per_leaf[~child]
    return sums


def scaled(tree: Tree, factor: float, shift: float = 0.0) -> Tree:
    """The tree whose leaves are factor times its own, plus shift."""
    return replace(tree, leaf_value=tree.leaf_value * factor + shift)
