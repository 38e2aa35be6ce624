"""The `Tree=…` blocks of LightGBM text: read with every check the native reader leaves out, and written back.

The native reader fills short lists with zeros, follows child numbers wherever they point and ends the process when a
number is not one (LightGBM issue 3733); so nothing reaches it that was not checked here.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from engine.errors import BadModel
from engine.forest.forest import Tree

_INTS = re.compile(r"(?:-?\d{1,10}(?: +|$))*")
_FLOATS = re.compile(r"(?:-?(?:\d{1,400}(?:\.\d{0,400})?(?:[eE][+-]?\d{1,4})?|inf|nan)(?: +|$))*")
_NODE_STATISTICS = {"split_gain": float, "internal_value": float, "internal_weight": float, "internal_count": int}
_LEAF_STATISTICS = {"leaf_weight": float, "leaf_count": int, "leaf_const": float}
_LINEAR = ("num_features", "leaf_features", "leaf_coeff")
_REST = (*_NODE_STATISTICS, *_LEAF_STATISTICS, *_LINEAR, "shrinkage")
_NODES = ("split_feature", "threshold", "decision_type", "left_child", "right_child")
_KEYS = {"num_leaves", "num_cat", *_NODES, "leaf_value", "cat_boundaries", "cat_threshold", "is_linear", *_REST}


def damaged(where: str, what: str) -> BadModel:
    """The error of every file that is not what LightGBM writes."""
    return BadModel(f"file is damaged or cut off: {where}: {what}. Save the model again with booster.save_model().")


def numbers(text: str, kind: type, where: str) -> np.ndarray:
    """A line of numbers as int64 or float64; refuses everything else."""
    if not (_INTS if kind is int else _FLOATS).fullmatch(text):
        raise damaged(where, f"{text[:60]!r} is not a list of numbers")
    return np.array(text.split(), dtype=np.int64 if kind is int else np.float64)


def whole(lines: dict[str, str], key: str, where: str, lowest: int, highest: int) -> int:
    """One integer of a block. Raises BadModel when it is missing or out of its range."""
    if key not in lines:
        raise damaged(where, f"{key} is missing")
    found = numbers(lines[key], int, f"{where}, {key}")
    if len(found) != 1 or not lowest <= found[0] <= highest:
        raise damaged(where, f"{key} is {lines[key][:40]!r}, allowed is {lowest} to {highest}")
    return int(found[0])


def _key_lines(text: str, where: str) -> dict[str, str]:
    lines: dict[str, str] = {}
    for line in text.split("\n"):
        key, equals, value = line.partition("=")
        if not equals or key not in _KEYS:
            raise damaged(where, f"unknown line {line[:60]!r}")
        if key in lines:
            raise damaged(where, f"{key} occurs twice")
        lines[key] = value
    return lines


def read_tree(text: str, where: str, n_features: int) -> Tree:
    """One block, without its `Tree=` line and its blank lines."""
    lines = _key_lines(text, where)
    n_leaves = whole(lines, "num_leaves", where, 1, len(text))
    n_nodes = n_leaves - 1

    def take(key: str, kind: type, n: int, optional: bool = False) -> np.ndarray:
        if key not in lines and not optional and n:
            raise damaged(where, f"{key} is missing")
        found = numbers(lines.get(key, ""), kind, f"{where}, {key}")
        if len(found) != n and not (optional and not len(found)):
            raise damaged(where, f"{key} has {len(found)} values, expected {n}")
        return found

    for key, kind in _NODE_STATISTICS.items():
        take(key, kind, n_nodes, optional=True)
    for key, kind in _LEAF_STATISTICS.items():
        take(key, kind, n_leaves, optional=True)
    take("shrinkage", float, 1, optional=True)
    decision = take("decision_type", int, n_nodes, optional=True)
    bounds, words = _category_sets(lines, where)
    tree = {
        "feature": take("split_feature", int, n_nodes),
        "threshold": take("threshold", float, n_nodes),
        "decision": decision if len(decision) else np.zeros(n_nodes, np.int64),
        "left": take("left_child", int, n_nodes),
        "right": take("right_child", int, n_nodes),
    }
    _check_nodes(tree, where, n_features, len(bounds) - 1)
    linear = whole(lines, "is_linear", where, 0, 1) == 1 if "is_linear" in lines else False
    if linear:
        _check_linear(lines, where, n_leaves, n_features)
    return Tree(
        feature=tree["feature"].astype(np.int32),
        threshold=tree["threshold"],
        decision=tree["decision"].astype(np.uint8),
        left=tree["left"].astype(np.int32),
        right=tree["right"].astype(np.int32),
        leaf_value=take("leaf_value", float, n_leaves),
        set_bounds=bounds,
        set_words=words,
        linear=linear,
        rest={key: lines[key] for key in _REST if key in lines and (linear or key not in (*_LINEAR, "leaf_const"))},
    )


def _category_sets(lines: dict[str, str], where: str) -> tuple[np.ndarray, np.ndarray]:
    n_sets = whole(lines, "num_cat", where, 0, 1 << 30)
    bounds = numbers(lines.get("cat_boundaries", ""), int, f"{where}, cat_boundaries")
    words = numbers(lines.get("cat_threshold", ""), int, f"{where}, cat_threshold")
    if n_sets == 0:
        return np.zeros(1, np.int64), np.zeros(0, np.uint32)
    rises = len(bounds) == n_sets + 1 and bounds[0] == 0 and (np.diff(bounds) > 0).all()
    if not rises or bounds[-1] != len(words) or (words < 0).any() or (words >= 1 << 32).any():
        raise damaged(where, f"cat_boundaries and cat_threshold do not fit num_cat={n_sets}")
    return bounds, words.astype(np.uint32)


def _check_nodes(tree: dict[str, Any], where: str, n_features: int, n_sets: int) -> None:
    """Each node and leaf has one parent, in front of it: so every walk ends in a leaf."""
    n_nodes = len(tree["feature"])
    if ((tree["feature"] < 0) | (tree["feature"] >= n_features)).any():
        raise damaged(where, f"split_feature names a column outside 0 to {n_features - 1}")
    if ((tree["decision"] < 0) | (tree["decision"] > 15) | (tree["decision"] >> 2 == 3)).any():
        raise damaged(where, "decision_type holds an unknown value")
    if np.isnan(tree["threshold"]).any():
        raise damaged(where, "threshold holds nan")
    children = np.concatenate([tree["left"], tree["right"]])
    parents = np.tile(np.arange(n_nodes), 2)
    expected = np.arange(-n_nodes - 1, n_nodes)
    if n_nodes and not np.array_equal(np.sort(children), expected[expected != 0]):
        raise damaged(where, "left_child and right_child do not reach every node and leaf once")
    if ((children >= 0) & (children <= parents)).any():
        raise damaged(where, "left_child or right_child runs in a circle")
    sets = tree["threshold"][(tree["decision"] & 1) == 1]
    if ((sets < 0) | (sets >= n_sets) | (sets != np.floor(sets))).any():
        raise damaged(where, f"threshold names a category set outside 0 to {n_sets - 1}")


def _check_linear(lines: dict[str, str], where: str, n_leaves: int, n_features: int) -> None:
    counts = numbers(lines.get("num_features", ""), int, f"{where}, num_features")
    features = numbers(lines.get("leaf_features", "").strip(), int, f"{where}, leaf_features")
    factors = numbers(lines.get("leaf_coeff", "").strip(), float, f"{where}, leaf_coeff")
    fits = len(counts) == n_leaves and (counts >= 0).all() and counts.sum() == len(features) == len(factors)
    if not fits or ((features < 0) | (features >= n_features)).any():
        raise damaged(where, "num_features, leaf_features and leaf_coeff do not fit each other")


def _join(values: np.ndarray) -> str:
    return " ".join(map(repr, values.tolist()))


def write_tree(tree: Tree) -> str:
    """The block of one tree, without its `Tree=` line. Doubles are written so that they read back as the same bits."""
    n_sets = len(tree.set_bounds) - 1
    lines = {
        "num_leaves": str(tree.n_nodes + 1),
        "num_cat": str(n_sets),
        "split_feature": _join(tree.feature),
        "threshold": _join(tree.threshold),
        "decision_type": _join(tree.decision),
        "left_child": _join(tree.left),
        "right_child": _join(tree.right),
        "leaf_value": _join(tree.leaf_value),
    }
    if n_sets:
        lines |= {"cat_boundaries": _join(tree.set_bounds), "cat_threshold": _join(tree.set_words)}
    lines |= {"is_linear": str(int(tree.linear)), **tree.rest}
    return "".join(f"{key}={value}\n" for key, value in lines.items())
