"""How an ONNX graph ends, and what that says of its answer: a softmax, a classifier, a ZipMap, a regressor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.records import OutputKind, Task

_PASSES_ON = frozenset(
    ("Identity", "Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "ZipMap", "DequantizeLinear", "QuantizeLinear")
)
_KINDS: dict[str, OutputKind] = {
    "Softmax": "probabilities",
    "Sigmoid": "probabilities",
    "QLinearSigmoid": "probabilities",
    "QLinearSoftmax": "probabilities",
    "LogSoftmax": "logits",
    "LinearClassifier": "probabilities",
    "SVMClassifier": "probabilities",
    "TreeEnsembleClassifier": "probabilities",
    "Normalizer": "probabilities",
    "LinearRegressor": "value",
    "SVMRegressor": "value",
    "TreeEnsembleRegressor": "value",
    "LpNormalization": "embedding",
}
_TASKS: dict[str, Task] = {
    "LinearRegressor": "regression",
    "SVMRegressor": "regression",
    "TreeEnsembleRegressor": "regression",
    "LpNormalization": "embedding",
}
_LABELS = ("classlabels_strings", "classlabels_int64s", "classlabels_ints")


@dataclass
class Ending:
    """By output name: kinds and tasks that the graph gives away, class names in column order of each ZipMap.

    independent: outputs of a sigmoid per column; classes: those of the one classifier in the graph; n_coefficients:
    numbers that linear models keep as attributes.
    """

    kinds: dict[str, OutputKind] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    zip_maps: dict[str, tuple[str, ...]] = field(default_factory=dict)
    independent: set[str] = field(default_factory=set)
    classes: tuple[str, ...] | None = None
    n_coefficients: int = 0


def read_ending(model: Any) -> Ending:
    """What the last operators in front of each output say."""
    ending = Ending()
    made_by = {name: node for node in model.graph.node for name in node.output}
    labels = [found for node in model.graph.node if (found := _labels(node)) and node.op_type != "ZipMap"]
    if len({tuple(found) for found in labels}) == 1:
        ending.classes = tuple(map(str, labels[0]))
    for node in model.graph.node:
        if node.op_type in ("LinearClassifier", "LinearRegressor", "SVMClassifier", "SVMRegressor"):
            ending.n_coefficients += sum(
                len(a.floats) for a in node.attribute if a.name in ("coefficients", "intercepts", "support_vectors")
            )
    for output in model.graph.output:
        last = made_by.get(output.name)
        if last is not None and last.op_type == "ZipMap":
            ending.zip_maps[output.name] = tuple(map(str, sorted(_labels(last))))
        maker, position = _maker(output.name, made_by)
        is_label = maker.endswith("Classifier") and position != 1  # a classifier gives labels, then scores
        if maker not in _KINDS or is_label:
            continue
        ending.kinds[output.name] = _KINDS[maker]
        if maker in _TASKS:
            ending.tasks[output.name] = _TASKS[maker]
        if "Sigmoid" in maker:
            ending.independent.add(output.name)
    return ending


def _maker(name: str, made_by: dict[str, Any]) -> tuple[str, int]:
    """The first operator upstream that does more than change the form, and which of its outputs it is."""
    for _ in range(20):
        node = made_by.get(name)
        if node is None:
            break
        if node.op_type not in _PASSES_ON:
            return node.op_type, list(node.output).index(name)
        name = node.input[0] if node.input else ""
    return "", 0


def _labels(node: Any) -> list[str] | list[int]:
    """Class labels of a classifier or ZipMap, in column order; text or int64."""
    for attribute in node.attribute:
        if attribute.name in _LABELS and (attribute.strings or attribute.ints):
            return [text.decode("utf-8", "replace") for text in attribute.strings] or list(attribute.ints)
    return []
