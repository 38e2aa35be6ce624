"""Small ONNX models for the tests, made node by node."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def info(name, shape=("N", 4), dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def weights(name="w", shape=(4, 2), dtype=np.float32):
    return numpy_helper.from_array(np.arange(np.prod(shape)).reshape(shape).astype(dtype) / 10, name)


def model(nodes=None, inputs=None, outputs=None, tensors=None, opsets=(("", 17),), **metadata):
    nodes = nodes or [helper.make_node("MatMul", ["x", "w"], ["y"])]
    tensors = [weights()] if tensors is None else tensors
    graph = helper.make_graph(nodes, "g", inputs or [info("x")], outputs or [info("y", ("N", 2))], tensors)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid(*o) for o in opsets], ir_version=10)
    helper.set_model_props(made, metadata)
    return made


def ending_in(*operators, shape=("N", 2), n_columns=2, **options):
    """MatMul, then the operators one after another."""
    nodes, last = [helper.make_node("MatMul", ["x", "w"], ["t0"])], "t0"
    for i, operator in enumerate(operators):
        following = "y" if i == len(operators) - 1 else f"t{i + 1}"
        nodes.append(helper.make_node(operator, [last], [following]))
        last = following
    return model(nodes, outputs=[info("y", shape)], tensors=[weights(shape=(4, n_columns))], **options)
