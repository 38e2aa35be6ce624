"""Other runtimes for the same trees, as far as they are installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from onnx import ModelProto


def rivals(exact: ModelProto, text: str, folder: Path) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Name -> raw scores of rows, one thread each. exact: our ONNX form of the model."""
    return {"ONNX Runtime, our export": _onnxruntime(_raw(exact))}


def _raw(model: ModelProto) -> ModelProto:
    """Without average and link, so that every runtime does the same work."""
    from onnx import TensorProto, helper

    at = next(i for i, node in enumerate(model.graph.node) if node.op_type == "TreeEnsemble")
    width = next(a.i for a in model.graph.node[at].attribute if a.name == "n_targets")
    del model.graph.node[at + 1 :]
    model.graph.node[at].output[0] = "raw"
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("raw", TensorProto.DOUBLE, ["N", width]))
    return model


def _onnxruntime(model: ModelProto) -> Callable[[np.ndarray], np.ndarray]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # the constants of the link are left over
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name

    def predict(rows: np.ndarray) -> np.ndarray:
        found: np.ndarray = session.run(None, {name: rows})[0]
        return found[:, 0] if found.shape[1] == 1 else found

    return predict
