"""ONNX tree operators as a forest: TreeEnsembleRegressor and TreeEnsembleClassifier 1 to 3, TreeEnsemble 5.

This is how scikit-learn's forests, and models of other libraries, come in. The operators compare in the type of their
input, here in double: for values and thresholds of that type the same. What differs is said by the lever: sums in
double instead of single precision, and values between 0 and ±1e-35 count as 0 (LightGBM's reading).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import BadModel, DoesNotFit
from engine.forest.forest import MISSING_NAN, PLAIN, Forest, Objective, Tree
from engine.forest.onnx_nodes import Nodes, by_leaf, by_node

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

OPERATORS = ("TreeEnsembleRegressor", "TreeEnsembleClassifier", "TreeEnsemble")
_POST = {b"NONE": 0, b"SOFTMAX": 1, b"LOGISTIC": 2, 0: 0, 1: 1, 2: 2}
_NONE, _SOFTMAX, _LOGISTIC = range(3)
_SUM, _AVERAGE = 1, 0
_ORDER = {b"SUM": _SUM, b"AVERAGE": _AVERAGE, 1: _SUM, 0: _AVERAGE}
LEQ, LT, GTE, GT = range(4)  # as version 5 numbers them
_LEFT_IS_TRUE = (LEQ, LT)


@dataclass(frozen=True)
class _Head:
    """What stands around the trees."""

    n_targets: int
    base: np.ndarray
    averaged: bool
    post: int
    binary: bool  # a classifier of two classes with one score


def to_forest(model: ModelProto, feature_names: tuple[str, ...], single: bool) -> Forest:
    """The trees of the graph's only operator, with its link.

    single: the input is float32. Raises DoesNotFit with the reason for anything this forest cannot say.
    """
    from onnx import helper

    node = _only_operator(model)
    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    nodes = by_leaf(attributes) if node.op_type == "TreeEnsemble" else by_node(node.op_type, attributes)
    head = _head(node.op_type, attributes, nodes)
    if nodes.feature.max(initial=-1) >= len(feature_names):
        raise BadModel(f"a node asks feature {nodes.feature.max()}, the input has {len(feature_names)} columns")
    trees = [_tree(nodes, start, end, single) for start, end in nodes.ranges]
    columns = _columns(trees, nodes, head)
    return Forest(
        trees=tuple(tree for one_round in zip(*columns, strict=True) for tree in one_round),
        objective=_objective(head),
        n_classes=len(columns),
        feature_names=feature_names,
        feature_infos=("none",) * len(feature_names),
        header={"version": "v4"},
    )


def _only_operator(model: ModelProto) -> NodeProto:
    found = [node for node in model.graph.node if node.op_type in OPERATORS]
    if not found:
        raise DoesNotFit("no trees inside: the graph has no TreeEnsemble operator")
    others = sorted({node.op_type for node in model.graph.node if node not in found} - {"Identity"})
    if len(found) > 1 or others:
        raise DoesNotFit(
            f"the graph has {len(found)} tree operators and {', '.join(others) or 'nothing'} beside them; one alone "
            "can be converted (skl2onnx: leave ZipMap out with options={'zipmap': False})"
        )
    if found[0].input[0] != model.graph.input[0].name:
        raise DoesNotFit("the tree operator does not read the input itself")
    return found[0]


def _head(kind: str, attributes: dict[str, Any], nodes: Nodes) -> _Head:
    post, order = attributes.get("post_transform", b"NONE"), attributes.get("aggregate_function", b"SUM")
    if post not in _POST or order not in _ORDER:
        raise DoesNotFit(f"post_transform {post!r} with aggregate_function {order!r} has no counterpart in LightGBM")
    labels = attributes.get("classlabels_int64s") or attributes.get("classlabels_strings") or ()
    n_targets = len(labels) if kind == "TreeEnsembleClassifier" else int(attributes.get("n_targets", 1))
    binary = len(labels) == 2 and len(set(nodes.target.tolist())) == 1
    if binary and _POST[post] == _NONE and (nodes.weight < 0).any():
        raise DoesNotFit("two classes with one negative score and no link: there are no probabilities to keep")
    if binary and _POST[post] == _SOFTMAX:
        raise DoesNotFit("a softmax of two classes with one score")
    tensor = attributes.get("base_values_as_tensor")
    base = _values(tensor) if tensor is not None else np.array(attributes.get("base_values", ()), np.float64)
    wanted = 1 if binary else n_targets
    if len(base) not in (0, wanted):
        raise DoesNotFit(f"{len(base)} base values for {wanted} scores")
    if n_targets < 1 or nodes.target.min(initial=0) < 0 or nodes.target.max(initial=0) >= n_targets:
        raise BadModel(f"a leaf adds to score {nodes.target.max(initial=0)}, there are {n_targets}")
    return _Head(wanted, base if len(base) else np.zeros(wanted), _ORDER[order] == _AVERAGE, _POST[post], binary)


def _values(tensor: Any) -> np.ndarray:
    from onnx import numpy_helper

    return np.asarray(numpy_helper.to_array(tensor), np.float64)


def _objective(head: _Head) -> Objective:
    k = head.n_targets
    if head.post == _LOGISTIC:
        text = "binary sigmoid:1" if k == 1 else f"multiclassova num_class:{k} sigmoid:1"
        return Objective(name=text.partition(" ")[0], text=text)
    if head.post == _SOFTMAX and k > 1:
        return Objective(name="multiclass", text=f"multiclass num_class:{k}")
    if head.post == _SOFTMAX:
        raise DoesNotFit("a softmax over one score")
    return PLAIN if k == 1 else Objective(name="custom", text="")


def _tree(nodes: Nodes, start: int, end: int, single: bool) -> Tree:
    """Nodes start … end of the table as a tree, in the order of the walk from the root."""
    inner, leaves, left, right = _walk(nodes, start, end)
    mode, value = nodes.mode[inner], nodes.threshold[inner]
    strict = (mode == LT) | (mode == GTE)  # x < t is x <= the number before t
    before = np.nextafter(value.astype(np.float32), np.float32(-np.inf)).astype(np.float64) if single else None
    below = before if before is not None else np.nextafter(value, -np.inf)
    turned = ~np.isin(mode, _LEFT_IS_TRUE)
    goes_left = nodes.tracks_true[inner] != turned
    return Tree(
        feature=nodes.feature[inner].astype(np.int32),
        threshold=np.where(strict, below, value),
        decision=(np.where(goes_left, 2, 0) | (MISSING_NAN << 2)).astype(np.uint8),
        left=np.where(turned, right, left).astype(np.int32),
        right=np.where(turned, left, right).astype(np.int32),
        leaf_value=leaves.astype(np.float64),  # rows of the table, until `_columns` puts the weights
        set_bounds=np.zeros(1, np.int64),
        set_words=np.zeros(0, np.uint32),
    )


def _walk(nodes: Nodes, start: int, end: int) -> tuple[np.ndarray, ...]:
    """(rows of inner nodes, rows of leaves, left, right): children behind their parents, numbered as in `Tree`."""
    inner: list[int] = []
    leaves: list[int] = []
    links: list[list[int]] = []
    todo: list[tuple[int, int, int]] = [(start, -1, 0)]
    while todo:
        row, parent, side = todo.pop()
        if nodes.is_leaf[row]:
            number = ~len(leaves)
            leaves.append(row)
        else:
            if len(inner) >= end - start:
                raise BadModel("the nodes of a tree form a circle")
            number = len(inner)
            inner.append(row)
            links.append([0, 0])
            todo += [(int(nodes.false[row]), number, 1), (int(nodes.true[row]), number, 0)]
        if parent >= 0:
            links[parent][side] = number
    if len(leaves) != len(inner) + 1:
        raise BadModel("the nodes of a tree do not form a tree")
    sides = np.array(links, np.int64).reshape(-1, 2)
    return np.array(inner, np.int64), np.array(leaves, np.int64), sides[:, 0], sides[:, 1]


def _columns(trees: list[Tree], nodes: Nodes, head: _Head) -> list[list[Tree]]:
    """Trees of each score. A tree whose leaves add to one score only is kept once; else there is a copy per score."""
    k = head.n_targets
    weights = np.zeros((len(nodes.feature), k))
    np.add.at(weights, (nodes.row, np.zeros_like(nodes.target) if head.binary else nodes.target), nodes.weight)
    used = np.zeros((len(nodes.feature), k), bool)
    used[nodes.row, 0 if head.binary else nodes.target] = True
    own = [np.flatnonzero(used[tree.leaf_value.astype(np.int64)].any(axis=0)) for tree in trees]
    single = all(len(targets) == 1 for targets in own) and len({*np.bincount([t[0] for t in own], minlength=k)}) == 1
    columns: list[list[Tree]] = []
    scale = 1.0 / len(trees) if head.averaged else 1.0
    for c in range(k):
        mine = [tree for tree, targets in zip(trees, own, strict=True) if not single or targets[0] == c]
        rows = [tree.leaf_value.astype(np.int64) for tree in mine]
        column = [replace(tree, leaf_value=weights[at, c] * scale) for tree, at in zip(mine, rows, strict=True)]
        column[0] = replace(column[0], leaf_value=column[0].leaf_value + head.base[c])
        columns.append(column)
    return columns
