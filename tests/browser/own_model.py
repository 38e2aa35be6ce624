"""A small net of one's own with its evaluation rows: not a sample, made by the test that uploads it."""

import numpy as np
import onnx
import pandas as pd
from onnx import TensorProto, helper, numpy_helper

N_FEATURES, N_HIDDEN, N_ROWS = 12, 256, 4000


def write(folder):
    """model.onnx and rows.csv: the net knows the rule behind the labels, which are noisy."""
    random = np.random.default_rng(7)
    features = random.normal(size=(N_ROWS, N_FEATURES)).astype("float32")
    first = random.normal(size=(N_FEATURES, N_HIDDEN)).astype("float32") / 3
    middle = random.normal(size=(N_HIDDEN, N_HIDDEN)).astype("float32") / 16
    last = random.normal(size=(N_HIDDEN, 2)).astype("float32") / 8
    hidden = np.maximum(np.maximum(features @ first, 0) @ middle, 0) @ last
    label = np.where(hidden[:, 1] - hidden[:, 0] + random.normal(size=N_ROWS) * 0.1 > 0, "churn", "stay")
    table = pd.DataFrame(features, columns=[f"x{i}" for i in range(N_FEATURES)])
    table["region"] = random.choice(["north", "south", "=west"], N_ROWS)
    table["outcome"] = label
    (folder / "rows.csv").write_text(table.to_csv(index=False))
    onnx.save(_net(first, middle, last), folder / "churn.onnx")
    return folder / "churn.onnx", folder / "rows.csv"


def _net(first, middle, last):
    weights = [numpy_helper.from_array(w, n) for n, w in (("w1", first), ("w2", middle), ("w3", last))]
    nodes = [
        helper.make_node("MatMul", ["features", "w1"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MatMul", ["b", "w2"], ["c"]),
        helper.make_node("Relu", ["c"], ["d"]),
        helper.make_node("MatMul", ["d", "w3"], ["e"]),
        helper.make_node("Softmax", ["e"], ["probabilities"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "churn",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["batch", N_FEATURES])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", 2])],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    helper.set_model_props(model, {"feature_names": ",".join(f"x{i}" for i in range(N_FEATURES))})
    onnx.checker.check_model(model)
    return model
