"""A second reading of a tree, row by row and slow, as LightGBM's documentation of its text format tells it."""

import math

from engine.forest.forest import MISSING_NAN, MISSING_ZERO, ZERO


def goes_left(tree, node, row):
    value = row[tree.feature[node]]
    if tree.categorical[node]:
        return not math.isnan(value) and 0 <= int(value) < 1 << 31 and int(value) in tree.categories(node)
    missing = tree.missing[node]
    if math.isnan(value) and missing != MISSING_NAN:
        value = 0.0
    if abs(value) <= ZERO:
        value = 0.0
    if (missing == MISSING_ZERO and value == 0) or (missing == MISSING_NAN and math.isnan(value)):
        return bool(tree.default_left[node])
    return value <= tree.threshold[node]


def leaf_of(tree, row, instead=None):
    """Number of the leaf. instead: node -> "left" or "right", whatever the row says, or "cut": the walk ends there."""
    node = 0 if tree.n_nodes else -1
    while node >= 0:
        what = (instead or {}).get(node)
        if what == "cut":
            return "node", node
        left = what == "left" if what else goes_left(tree, node, row)
        node = int((tree.left if left else tree.right)[node])
    return "leaf", ~node


def value_of(tree, row, instead=None, node_value=None):
    kind, at = leaf_of(tree, row, instead)
    return float(node_value[at] if kind == "node" else tree.leaf_value[at])
