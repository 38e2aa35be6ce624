"""A forest as one ONNX TreeEnsemble (ai.onnx.ml 5) in float64, with the answers of LightGBM.

Four readings of LightGBM that a plain conversion misses, and how they are kept:
values below 1e-35 count as 0 (thresholds in that range move to its edge); zero as missing (such columns get a copy with
zeros turned into NaN); category codes are cut to whole numbers (a copy again); averaging and the link are appended.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import DoesNotFit
from engine.forest.forest import MISSING_NONE, MISSING_ZERO, ZERO, Forest, Tree

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

OPSET, ML_OPSET, IR_VERSION = 21, 5, 10
_LESS_OR_EQUAL, _MEMBER = 0, 6
_NO_CODE = 0.5  # never equal to a code that was cut to a whole number


LINEAR = "linear trees cannot be converted: their leaves hold a model, ONNX leaves hold a number"


def why_not(forest: Forest) -> str | None:
    """None, or why this forest has no exact ONNX form."""
    if forest.linear:
        return LINEAR
    if forest.objective.link == "unknown":
        return (
            "the objective is custom, so the file does not say how a raw score becomes an answer; "
            "it cannot be converted. Train with a built-in objective, or serve it with LightGBM"
        )
    return None


def to_onnx(forest: Forest, input_name: str = "features", output_name: str = "score") -> ModelProto:
    """ONNX model: input (N, n_features) float64, output (N,) or (N, n_classes) float64 as `Booster.predict` gives it.

    Bit-identical raw sums hold for one thread; several threads add the trees in another order (1e-15 relative).
    Raises DoesNotFit.
    """
    from onnx import TensorProto, helper

    if reason := why_not(forest):
        raise DoesNotFit(reason)
    graph = _Graph()
    zeros, codes = _special_columns(forest)
    columns = graph.columns(input_name, zeros, codes)
    raw = graph.add("TreeEnsemble", columns, domain="ai.onnx.ml", **tree_attributes(forest, zeros, codes))
    if forest.averaged:
        raw = graph.add("Div", raw, graph.constant(float(forest.n_rounds)))
    answer = _LINKS[forest.objective.link](graph, raw, forest.objective.sigmoid)
    if forest.n_classes == 1:
        answer = graph.add("Squeeze", answer, graph.constant(np.array([1], np.int64)))
    graph.nodes[-1].output[0] = output_name
    shape = ["N"] if forest.n_classes == 1 else ["N", forest.n_classes]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "forest",
            [helper.make_tensor_value_info(input_name, TensorProto.DOUBLE, ["N", forest.n_features])],
            [helper.make_tensor_value_info(output_name, TensorProto.DOUBLE, shape)],
            initializer=graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR_VERSION,
        producer_name="whetstone",
    )
    helper.set_model_props(model, {"feature_names": json.dumps(list(forest.feature_names))})
    return model


def tree_attributes(forest: Forest, zeros: np.ndarray, codes: np.ndarray) -> dict[str, Any]:
    """Attributes of the TreeEnsemble operator. zeros, codes: features whose copies follow the plain columns."""
    from onnx import numpy_helper

    parts: dict[str, list[np.ndarray]] = {}
    members: list[np.ndarray] = []
    n_nodes = n_leaves = 0
    roots = []
    for tree in forest.trees:
        roots.append(n_nodes)
        for key, values in _tree_parts(tree, n_nodes, n_leaves, forest.n_features, zeros, codes).items():
            parts.setdefault(key, []).append(values)
        for node in np.flatnonzero(tree.categorical).tolist():
            found = tree.categories(node).astype(np.float64)
            members += [found if len(found) else np.array([_NO_CODE]), np.array([np.nan])]
        n_nodes += max(1, tree.n_nodes)
        n_leaves += len(tree.leaf_value)
    joined = {key: np.concatenate(values) for key, values in parts.items()}
    tensors = {"nodes_splits": np.float64, "nodes_modes": np.uint8}
    attributes: dict[str, Any] = {
        key: numpy_helper.from_array(values.astype(tensors[key])) if key in tensors else values.tolist()
        for key, values in joined.items()
    }
    sizes = [len(tree.leaf_value) for tree in forest.trees]
    leaves = np.concatenate([tree.leaf_value for tree in forest.trees])
    attributes |= {
        "leaf_targetids": np.repeat(np.arange(len(sizes)) % forest.n_classes, sizes).tolist(),
        "leaf_weights": numpy_helper.from_array(leaves),
        "tree_roots": roots,
        "n_targets": forest.n_classes,
        "aggregate_function": 1,
        "post_transform": 0,
    }
    if members:
        attributes["membership_values"] = numpy_helper.from_array(np.concatenate(members))
    return attributes


def _tree_parts(
    tree: Tree, first_node: int, first_leaf: int, n_features: int, zeros: np.ndarray, codes: np.ndarray
) -> dict[str, np.ndarray]:
    if tree.n_nodes == 0:  # a constant: one node whose both sides are the same leaf
        node = {
            "splits": [0.0],
            "modes": [_LESS_OR_EQUAL],
            "featureids": [0],
            "truenodeids": [first_leaf],
            "falsenodeids": [first_leaf],
            "trueleafs": [1],
            "falseleafs": [1],
            "missing_value_tracks_true": [0],
        }
        return {f"nodes_{key}": np.array(values) for key, values in node.items()}
    categorical, missing = tree.categorical, tree.missing
    column = tree.feature.astype(np.int64)
    zero = ~categorical & (missing == MISSING_ZERO)
    column[zero] = n_features + np.searchsorted(zeros, tree.feature[zero])
    column[categorical] = n_features + len(zeros) + np.searchsorted(codes, tree.feature[categorical])
    goes_left = np.where(missing == MISSING_NONE, tree.threshold >= 0.0, tree.default_left)
    return {
        "nodes_splits": np.where(categorical, 0.0, _outside_zero(tree.threshold)),
        "nodes_modes": np.where(categorical, _MEMBER, _LESS_OR_EQUAL),
        "nodes_featureids": column,
        "nodes_truenodeids": np.where(tree.left >= 0, tree.left + first_node, ~tree.left + first_leaf),
        "nodes_falsenodeids": np.where(tree.right >= 0, tree.right + first_node, ~tree.right + first_leaf),
        "nodes_trueleafs": (tree.left < 0).astype(np.int64),
        "nodes_falseleafs": (tree.right < 0).astype(np.int64),
        "nodes_missing_value_tracks_true": (goes_left & ~categorical).astype(np.int64),
    }


def _outside_zero(threshold: np.ndarray) -> np.ndarray:
    """Thresholds moved out of the range LightGBM reads as 0, so that `x <= t` needs no rounding of x first."""
    below = np.nextafter(-ZERO, -np.inf)
    moved = np.where((threshold >= -ZERO) & (threshold < 0.0), below, threshold)
    return np.where((threshold >= 0.0) & (threshold < ZERO), ZERO, moved)


def _special_columns(forest: Forest) -> tuple[np.ndarray, np.ndarray]:
    zeros: set[int] = set()
    codes: set[int] = set()
    for tree in forest.trees:
        categorical = tree.categorical
        codes.update(tree.feature[categorical].tolist())
        zeros.update(tree.feature[~categorical & (tree.missing == MISSING_ZERO)].tolist())
    return np.array(sorted(zeros), np.int64), np.array(sorted(codes), np.int64)


class _Graph:
    """Nodes and constants under construction; every value is named by its position."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        from onnx import helper

        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, value: float | np.ndarray) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def columns(self, plain: str, zeros: np.ndarray, codes: np.ndarray) -> str:
        """The input, then copies with zeros as NaN, then copies cut to whole numbers towards zero."""
        parts = [plain]
        if len(zeros):
            picked = self.add("Gather", plain, self.constant(zeros), axis=1)
            is_zero = self.add("LessOrEqual", self.add("Abs", picked), self.constant(ZERO))
            parts.append(self.add("Where", is_zero, self.constant(np.nan), picked))
        if len(codes):
            picked = self.add("Gather", plain, self.constant(codes), axis=1)
            negative = self.add("Less", picked, self.constant(0.0))
            parts.append(self.add("Where", negative, self.add("Ceil", picked), self.add("Floor", picked)))
        return plain if len(parts) == 1 else self.add("Concat", *parts, axis=1)


def _identity(graph: _Graph, raw: str, _: float) -> str:
    return raw


def _sigmoid(graph: _Graph, raw: str, slope: float) -> str:
    grown = graph.add("Exp", graph.add("Mul", raw, graph.constant(-slope)))
    one = graph.constant(1.0)
    return graph.add("Div", one, graph.add("Add", one, grown))


def _softmax(graph: _Graph, raw: str, _: float) -> str:
    return graph.add("Softmax", raw, axis=1)


def _exp(graph: _Graph, raw: str, _: float) -> str:
    return graph.add("Exp", raw)


def _signed_square(graph: _Graph, raw: str, _: float) -> str:
    return graph.add("Mul", raw, graph.add("Abs", raw))


def _log1p_exp(graph: _Graph, raw: str, _: float) -> str:
    """log(1 + u), u = exp(raw), without losing a small u: log(w)·u/(w − 1) with w = 1 + u (Kahan)."""
    one = graph.constant(1.0)
    u = graph.add("Exp", raw)
    w = graph.add("Add", one, u)
    ratio = graph.add("Div", u, graph.add("Sub", w, one))
    return graph.add("Where", graph.add("Equal", w, one), u, graph.add("Mul", graph.add("Log", w), ratio))


_LINKS = {
    "identity": _identity,
    "sigmoid": _sigmoid,
    "sigmoid per class": _sigmoid,
    "softmax": _softmax,
    "exp": _exp,
    "signed square": _signed_square,
    "log1p exp": _log1p_exp,
}
