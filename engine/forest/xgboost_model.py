"""XGBoost models: the document checked field by field into arrays, and written back clean.

The native reader trusts its file: child numbers, sizes and counts are followed wherever they point. So nothing reaches
it that was not rebuilt here from what was checked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import BadModel
from engine.forest import ubjson
from engine.forest.xgboost_trees import XgboostTree, read_tree, write_tree
from engine.forest.xgboost_values import (
    MOST,
    damaged,
    list_of,
    object_of,
    real_numbers,
    text_of,
    texts_of,
    whole_numbers,
    whole_of,
    words_of,
)

KNOWN_OBJECTIVES = (
    *("reg:squarederror", "reg:squaredlogerror", "reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror"),
    *("reg:logistic", "reg:gamma", "reg:tweedie", "count:poisson", "survival:cox", "survival:aft"),
    *("binary:logistic", "binary:logitraw", "binary:hinge", "multi:softprob", "multi:softmax"),
    *("rank:ndcg", "rank:map", "rank:pairwise"),
)
_PROBABILITIES = {"multi:softmax": "multi:softprob"}  # the same trees, asked for probabilities instead of a class
_IN_FILE = ("whetstone_rounds", "whetstone_objective")  # what a clean file says of the one it was made from
_LEARNER = {"attributes", "feature_names", "feature_types", "gradient_booster", "learner_model_param", "objective"}
_LEARNER_IGNORED = {"cats"}
_MODEL = {"gbtree_model_param", "iteration_indptr", "tree_info", "trees", "cats"}
_TYPES = ("float", "int", "q", "i", "c")


@dataclass(frozen=True, eq=False)
class XgboostModel:
    """A checked model. Tree i adds to column `groups[i]`; `rounds` (n_rounds + 1,) are the bounds of its rounds.

    weights: (n_trees,) factors of DART, None elsewhere; base_score: () or (n_groups,) as the file has it.
    """

    trees: tuple[XgboostTree, ...]
    groups: np.ndarray
    rounds: np.ndarray
    objective: str
    n_features: int
    n_groups: int
    base_score: tuple[float, ...]
    version: tuple[int, ...]
    objective_parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    learner_parameters: Mapping[str, str] = field(default_factory=dict)
    n_parallel: int = 1
    weights: np.ndarray | None = None
    feature_names: tuple[str, ...] = ()
    feature_types: tuple[str, ...] = ()
    best_iteration: int | None = None
    n_rounds_in_file: int = 0  # before those behind the best iteration were left out
    objective_in_file: str = ""

    @property
    def n_rounds(self) -> int:
        """Boosting rounds that are used."""
        return len(self.rounds) - 1


def load(path: Path) -> XgboostModel:
    """The model in a JSON or UBJSON file, up to its best iteration where the file names one. Raises BadModel."""
    data = path.read_bytes()
    return check(_document(data))


def _document(data: bytes) -> Any:
    if data[:2] in (b"{L", b"{l", b"{I", b"{i", b"{U"):
        return ubjson.decode(data)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadModel(f"the XGBoost JSON is damaged or cut off ({str(error)[:80]}); save the model again") from error


def check(document: Any) -> XgboostModel:
    """The model of a document as XGBoost 1.6 and later write it. Raises BadModel naming the field."""
    learner = object_of(document, "learner", "the document")
    unknown = set(learner) - _LEARNER - _LEARNER_IGNORED
    if unknown:
        raise damaged("learner", f"unknown field {min(unknown)[:40]!r}; was it made by a newer XGBoost?")
    parameters = texts_of(object_of(learner, "learner_model_param", "learner"), "learner_model_param")
    n_features = whole_of(parameters, "num_feature", 1, MOST)
    n_classes = whole_of(parameters, "num_class", 0, MOST)
    n_targets = whole_of(parameters, "num_target", 1, MOST) if "num_target" in parameters else 1
    objective = object_of(learner, "objective", "learner")
    name = text_of(objective, "name", "objective")
    if name not in KNOWN_OBJECTIVES:
        raise BadModel(f"unknown XGBoost objective {name[:60]!r}; known: {', '.join(KNOWN_OBJECTIVES)}")
    n_groups = max(n_classes, n_targets, 1)
    model, weights = _booster(object_of(learner, "gradient_booster", "learner"))
    tree_parameters = texts_of(object_of(model, "gbtree_model_param", "model"), "gbtree_model_param")
    n_parallel = (
        whole_of(tree_parameters, "num_parallel_tree", 1, MOST) if "num_parallel_tree" in tree_parameters else 1
    )
    trees = list_of(model, "trees", "model")
    groups = whole_numbers(model.get("tree_info"), "tree_info", len(trees), 0, n_groups - 1)
    rounds = _rounds(model, len(trees), n_parallel * n_groups)
    names = tuple(words_of(learner, "feature_names", n_features))
    found = XgboostModel(
        trees=tuple(read_tree(tree, f"tree {i}", n_features) for i, tree in enumerate(trees)),
        groups=groups,
        rounds=rounds,
        objective=_PROBABILITIES.get(name, name),
        n_features=n_features,
        n_groups=n_groups,
        base_score=_base_score(parameters, n_groups),
        version=_version(document),
        objective_parameters={
            key: texts_of(value, f"objective, {key}") for key, value in objective.items() if key != "name"
        },
        learner_parameters={key: parameters[key] for key in ("base_score", "boost_from_average") if key in parameters}
        | {"num_class": str(n_classes), "num_feature": str(n_features), "num_target": str(n_targets)},
        n_parallel=n_parallel,
        weights=_weights(weights, len(trees)),
        feature_names=names,
        feature_types=tuple(words_of(learner, "feature_types", n_features, _TYPES)),
        n_rounds_in_file=len(rounds) - 1,
        objective_in_file=name,
    )
    if len(set(names)) != len(names):
        raise damaged("feature_names", "a name occurs twice")
    return _up_to_the_best(found, learner.get("attributes"))


def write(model: XgboostModel) -> bytes:
    """UBJSON that XGBoost loads to the same answers; training state and other attributes are not kept."""
    gbtree: dict[str, Any] = {
        "gbtree_model_param": {"num_parallel_tree": str(model.n_parallel), "num_trees": str(len(model.trees))},
        "iteration_indptr": model.rounds.tolist(),
        "tree_info": model.groups.tolist(),
        "trees": [write_tree(tree, i, model.n_features) for i, tree in enumerate(model.trees)],
    }
    booster: dict[str, Any] = {"model": gbtree, "name": "gbtree"}
    if model.weights is not None:
        booster = {"gbtree": booster, "name": "dart", "weight_drop": model.weights.astype(float).tolist()}
    attributes = {"whetstone_rounds": str(model.n_rounds_in_file), "whetstone_objective": model.objective_in_file}
    if model.best_iteration is not None:
        attributes["best_iteration"] = str(model.best_iteration)
    learner = {
        "attributes": attributes,
        "feature_names": list(model.feature_names),
        "feature_types": list(model.feature_types),
        "gradient_booster": booster,
        "learner_model_param": dict(model.learner_parameters),
        "objective": {"name": model.objective, **{k: dict(v) for k, v in model.objective_parameters.items()}},
    }
    return ubjson.encode({"learner": learner, "version": list(model.version)})


# ---------------------------------------------------------------- parts of the document
def _booster(found: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """The tree model, and the factors of DART."""
    name = text_of(found, "name", "gradient_booster")
    if name == "gblinear":
        raise BadModel("this XGBoost model is linear (gblinear): it has no trees; export it as ONNX")
    if name == "dart":
        inner = object_of(found, "gbtree", "gradient_booster")
        return _model(inner), found.get("weight_drop")
    if name != "gbtree":
        raise BadModel(f"unknown XGBoost booster {name[:40]!r}; gbtree and dart are read")
    return _model(found), None


def _model(found: dict[str, Any]) -> dict[str, Any]:
    model = object_of(found, "model", "gradient_booster")
    unknown = set(model) - _MODEL
    if unknown:
        raise damaged("model", f"unknown field {min(unknown)[:40]!r}; was it made by a newer XGBoost?")
    return model


def _rounds(model: dict[str, Any], n_trees: int, per_round: int) -> np.ndarray:
    if "iteration_indptr" not in model:
        if n_trees % per_round:
            raise damaged("trees", f"{n_trees} trees do not divide into rounds of {per_round}")
        return np.arange(0, n_trees + 1, per_round, dtype=np.int64)
    bounds = whole_numbers(model["iteration_indptr"], "iteration_indptr", None, 0, n_trees)
    if not len(bounds) or bounds[0] != 0 or bounds[-1] != n_trees or (np.diff(bounds) < 0).any():
        raise damaged("iteration_indptr", f"it does not rise from 0 to {n_trees}")
    return bounds


def _weights(found: Any, n_trees: int) -> np.ndarray | None:
    return None if found is None else real_numbers(found, "weight_drop", n_trees)


def _base_score(parameters: Mapping[str, str], n_groups: int) -> tuple[float, ...]:
    text = parameters.get("base_score", "5E-1").strip("[]")
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise damaged("base_score", f"{text[:40]!r} is not a list of numbers") from error
    if len(values) not in (1, n_groups) or not all(map(math.isfinite, values)):
        raise damaged("base_score", f"{len(values)} values for {n_groups} outputs, or one that is not finite")
    return values


def _version(document: dict[str, Any]) -> tuple[int, ...]:
    found = document.get("version")
    return tuple(whole_numbers(found, "version", 3, 0, 1 << 16).tolist())


def _up_to_the_best(model: XgboostModel, attributes: Any) -> XgboostModel:
    """Early stopping leaves later rounds in the file; XGBoost's scikit-learn interface does not use them either."""
    names = ("best_iteration", *_IN_FILE)
    found = {key: attributes[key] for key in names if key in attributes} if isinstance(attributes, dict) else {}
    said = texts_of(found, "attributes")
    rounds, objective = (said.get(key) for key in _IN_FILE)
    if rounds is not None and objective in KNOWN_OBJECTIVES:
        in_file = whole_of(said, "whetstone_rounds", 0, MOST)
        model = replace(model, n_rounds_in_file=in_file, objective_in_file=objective)
    if "best_iteration" not in said:
        return model
    n = whole_of(said, "best_iteration", 0, MOST) + 1
    if n > model.n_rounds:
        raise damaged("attributes", f"best_iteration is {n - 1}, the model has {model.n_rounds} rounds")
    last = int(model.rounds[n])
    return replace(
        model,
        trees=model.trees[:last],
        groups=model.groups[:last],
        rounds=model.rounds[: n + 1],
        weights=None if model.weights is None else model.weights[:last],
        best_iteration=n - 1,
    )
