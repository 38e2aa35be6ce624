"""The block kernel's program: children before their parents, each node with a place to write to."""

from __future__ import annotations

import numpy as np

from engine.forest.binned.columns import Binned
from engine.forest.forest import Forest, Tree
from engine.forest.serve.kernels import SET_COLUMN, TREES

MOST_LEAVES = 256  # of one tree: a slot holds the number of a leaf in a byte


def block_program(forest: Forest, binned: Binned) -> dict[str, np.ndarray]:
    """Nodes (n, 5) uint16, tree_node (n_trees + 1,) int32; empty where a tree has more than 256 leaves.

    Trees class by class. Slots 0 … leaves - 1 hold the numbers of the leaves; the four behind them belong to the roots
    of four trees, which are added up together; the rest is a small stack.
    """
    root = max(len(tree.leaf_value) for tree in forest.trees)
    if root > MOST_LEAVES:
        return {"nodes": np.zeros((0, 5), np.uint16), "tree_node": np.zeros(len(forest.trees) + 1, np.int32)}
    column = np.where(binned.is_set, SET_COLUMN, binned.column)
    lines: list[tuple[int, int, int, int, int]] = []
    ends = [0]
    for t in np.arange(len(forest.trees)).reshape(-1, forest.n_classes).T.reshape(-1).tolist():
        tree, first = forest.trees[t], int(binned.first_node[t])
        own = root + (len(ends) - 1) % forest.n_rounds % TREES
        if tree.n_nodes == 0:
            lines.append((0, 0, 0, 0, own))
        for node, left, right, to in _order(tree, own, root + TREES):
            lines.append((int(column[first + node]), int(binned.limit[first + node]), left, right, to))
        ends.append(len(lines))
    return {"nodes": np.array(lines, np.uint16), "tree_node": np.array(ends, np.int32)}


def _order(tree: Tree, root: int, stack: int) -> list[tuple[int, int, int, int]]:
    """(node, left slot, right slot, slot written) of one tree.

    The child that needs more slots goes first (Sethi and Ullman, 1970); a node never writes where its children lie.
    """
    left, right = tree.left.tolist(), tree.right.tolist()
    needs = [0] * tree.n_nodes
    for node in reversed(range(tree.n_nodes)):
        one, two = sorted((needs[child] if child >= 0 else 0) for child in (left[node], right[node]))
        needs[node] = max(1, two if one != two else two + 1)
    lines: list[tuple[int, int, int, int]] = []
    written: dict[int, int] = {}
    todo = [(0, root, frozenset[int](), False)] if tree.n_nodes else []
    while todo:
        node, to, busy, ready = todo.pop()
        children = (left[node], right[node])
        if ready:
            slots = [written.pop(child) if child >= 0 else ~child for child in children]
            lines.append((node, slots[0], slots[1], to))
            written[node] = to
            continue
        todo.append((node, to, busy, True))
        taken: frozenset[int] = frozenset()
        steps = []
        for child in sorted((child for child in children if child >= 0), key=lambda child: -needs[child]):
            slot = next(s for s in range(stack, stack + MOST_LEAVES) if s != to and s not in busy and s not in taken)
            steps.append((child, slot, busy | taken, False))
            taken |= {slot}
        todo.extend(reversed(steps))
    return lines
