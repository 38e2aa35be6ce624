"""An XGBoost model as a forest with double-precision thresholds that decide as XGBoost does.

XGBoost casts a value to float32 and asks x < t. The largest double that the cast takes below t is the threshold here,
so x <= threshold says the same for every double. Two readings cannot be kept: a double between 0 and ±1e-35 counts as 0
(LightGBM's reading), and sums are taken in double instead of single precision, which changes the seventh digit.
"""

from __future__ import annotations

import re

import numpy as np

from engine.errors import DoesNotFit
from engine.forest.forest import MISSING_NAN, Forest, Objective, Tree
from engine.forest.xgboost_model import XgboostModel
from engine.forest.xgboost_trees import XgboostTree

_IDENTITY = Objective(name="regression", text="regression")
_EXP = Objective(name="poisson", text="poisson")
_RANK = Objective(name="lambdarank", text="lambdarank")
_OBJECTIVES = {
    **dict.fromkeys(("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror"), _IDENTITY),
    **dict.fromkeys(("reg:quantileerror", "reg:squaredlogerror"), _IDENTITY),
    **dict.fromkeys(("rank:ndcg", "rank:map", "rank:pairwise"), _RANK),
    **dict.fromkeys(("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft"), _EXP),
    "binary:logistic": Objective(name="binary", text="binary sigmoid:1"),
    "reg:logistic": Objective(name="cross_entropy", text="cross_entropy"),
    "binary:logitraw": Objective(name="custom", text=""),
}
_SOFTMAX = ("multi:softprob", "multi:softmax")
_EXP_BASE = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft")


def why_not(model: XgboostModel) -> str | None:
    """None, or why there is no such forest."""
    if model.objective == "binary:hinge":
        return "the objective binary:hinge answers 0 or 1; a forest with a link answers scores"
    if model.n_groups > 1 and model.objective not in _SOFTMAX:
        return f"the model has {model.n_groups} outputs that are no classes; one output, or classes, can be converted"
    counts = np.bincount(model.groups, minlength=model.n_groups)
    if len(set(counts.tolist())) != 1:
        return "the classes have unlike numbers of trees"
    for i, tree in enumerate(model.trees):
        codes = [node for node in tree.sets if not tree.default_left[node]]
        if codes:
            return f"tree {i} sends missing categories to the side of its set, which a LightGBM tree cannot do"
    return None


def to_forest(model: XgboostModel) -> Forest:
    """The same trees and link. Raises DoesNotFit with the reason."""
    if reason := why_not(model):
        raise DoesNotFit(reason)
    k = model.n_groups
    weights = np.ones(len(model.trees)) if model.weights is None else model.weights.astype(np.float64)
    trees = [_tree(tree, float(weight)) for tree, weight in zip(model.trees, weights, strict=True)]
    columns = [[tree for tree, group in zip(trees, model.groups, strict=True) if group == c] for c in range(k)]
    for column, score in zip(columns, _margins(model), strict=True):
        first = column[0]
        column[0] = Tree(**{**vars(first), "leaf_value": first.leaf_value + score})
    objective = (
        Objective(name="multiclass", text=f"multiclass num_class:{k}") if k > 1 else _OBJECTIVES[model.objective]
    )
    return Forest(
        trees=tuple(tree for one_round in zip(*columns, strict=True) for tree in one_round),
        objective=objective,
        n_classes=k,
        feature_names=plain_names(model),
        feature_infos=("none",) * model.n_features,
        header={"version": "v4"},
    )


def plain_names(model: XgboostModel) -> tuple[str, ...]:
    """Feature names that LightGBM text can hold."""
    return plain(model.feature_names or tuple(f"f{i}" for i in range(model.n_features)))


def plain(names: tuple[str, ...]) -> tuple[str, ...]:
    """A name with a blank or an odd sign becomes f<position>; all do where two would be alike."""
    found = [name if re.fullmatch(r"[\w.\-/()%+]{1,200}", name) else f"f{i}" for i, name in enumerate(names)]
    return tuple(found) if len(set(found)) == len(found) else tuple(f"f{i}" for i in range(len(names)))


def _margins(model: XgboostModel) -> list[float]:
    """What every raw score starts from: the base score on the scale of the sums, per class."""
    scores = np.resize(np.array(model.base_score, np.float64), model.n_groups)
    if model.objective in ("binary:logistic", "reg:logistic"):
        if not ((scores > 0) & (scores < 1)).all():
            raise DoesNotFit(f"base_score is {scores[0]:g}; a probability between 0 and 1 is needed")
        scores = -np.log(1.0 / scores - 1.0)
    elif model.objective in _EXP_BASE:
        if not (scores > 0).all():
            raise DoesNotFit(f"base_score is {scores[0]:g}; it must be above 0 for {model.objective}")
        scores = np.log(scores)
    return [float(score) for score in scores]


def _tree(tree: XgboostTree, weight: float) -> Tree:
    inner, ends = np.flatnonzero(~tree.is_leaf), np.flatnonzero(tree.is_leaf)
    number = np.empty(len(tree.left), np.int64)
    number[inner], number[ends] = np.arange(len(inner)), ~np.arange(len(ends))
    left, right = number[tree.left[inner]], number[tree.right[inner]]
    threshold = highest_below(tree.value[inner])
    goes_left = tree.default_left[inner].astype(bool)
    decision = np.where(goes_left, 2, 0) | (MISSING_NAN << 2)
    bounds, words = [0], []
    for position, node in enumerate(sorted(tree.sets)):
        at = int(number[node])
        left[at], right[at] = right[at], left[at]  # LightGBM's set goes left, XGBoost's right
        threshold[at], decision[at] = position, 1 | (MISSING_NAN << 2)
        words.append(_bitset(tree.sets[node]))
        bounds.append(bounds[-1] + len(words[-1]))
    return Tree(
        feature=tree.feature[inner].astype(np.int32),
        threshold=threshold,
        decision=decision.astype(np.uint8),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        leaf_value=tree.value[ends].astype(np.float64) * weight,
        set_bounds=np.array(bounds, np.int64),
        set_words=np.concatenate(words) if words else np.zeros(0, np.uint32),
        rest={"leaf_weight": " ".join(map(repr, tree.weight[ends].astype(float).tolist()))} if len(inner) else {},
    )


def _bitset(codes: np.ndarray) -> np.ndarray:
    words = np.zeros(int(codes.max(initial=0)) // 32 + 1, np.uint32)
    np.bitwise_or.at(words, codes // 32, (np.uint32(1) << (codes % 32).astype(np.uint32)))
    return words


def highest_below(values: np.ndarray) -> np.ndarray:
    """(n,) float64: the largest double x with float32(x) < value, for finite float32 values.

    Halfway between two float32 the cast goes to the one whose last bit is 0.
    """
    at = values.astype(np.float32)
    before = np.nextafter(at, np.float32(-np.inf))
    lower = np.where(np.isinf(before), -(2.0**128), before.astype(np.float64))  # the cast overflows halfway to 2^128
    middle = (lower + at.astype(np.float64)) / 2
    tie_goes_below = (before.view(np.uint32) & 1) == 0
    limit: np.ndarray = np.where(tie_goes_below, middle, np.nextafter(middle, -np.inf))
    return limit
