"""ZipMap: the operator with which converted scikit-learn classifiers answer in dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto


def drop_zipmap(model: ModelProto) -> int:
    """Let each ZipMap's output be its (n, K) array instead, columns ordered by key; returns how many there were."""
    from onnx import TensorProto, helper, numpy_helper

    graph = model.graph
    found = [node for node in graph.node if node.op_type == "ZipMap"]
    for node in found:
        keys = _keys(node)
        order = sorted(range(len(keys)), key=keys.__getitem__)
        name = node.output[0]
        if order == list(range(len(keys))):
            replacement = helper.make_node("Identity", [node.input[0]], [name], name=f"{name}_array")
        else:
            graph.initializer.append(numpy_helper.from_array(np.array(order, np.int64), f"{name}_order"))
            replacement = helper.make_node("Gather", [node.input[0], f"{name}_order"], [name], axis=1)
        position = list(graph.node).index(node)
        graph.node.remove(node)
        graph.node.insert(position, replacement)
        output = next(value for value in graph.output if value.name == name)
        output.CopyFrom(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", len(keys)]))
    return len(found)


def _keys(node: NodeProto) -> list[Any]:
    """Class labels of a ZipMap: integers or text."""
    for attribute in node.attribute:
        if attribute.name == "classlabels_int64s":
            return list(attribute.ints)
        if attribute.name == "classlabels_strings":
            return [text.decode() for text in attribute.strings]
    return []
