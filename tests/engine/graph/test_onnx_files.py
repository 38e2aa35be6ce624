import numpy as np
import onnx
import pytest
from onnx import helper

from engine.errors import DoesNotFit
from engine.graph import onnx_files
from engine.graph.onnx_files import check_result, folder_bytes, load_model, operators, save_model, weights
from engine.records import Signature, TensorSpec
from tests.model_zoo import graph, onnx_artefact


def double(n=64):
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    w = np.eye(n, dtype=np.float32) * 2
    return graph([node], [("x", "float32", ["N", n])], [("y", "float32", ["N", n])], [("w", w)])


def test_weights_go_beside_the_file_when_it_would_be_too_large(tmp_path, monkeypatch):
    save_model(double(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]
    monkeypatch.setattr(onnx_files, "INLINE_BYTES", 1000)
    save_model(double(), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.onnx", "model.onnx.data"]
    assert folder_bytes(tmp_path) > 64 * 64 * 4
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(load_model(tmp_path).graph.initializer[0]), np.eye(64) * 2)


def test_operator_sets_without_a_node_are_dropped(tmp_path):
    model = double()
    model.opset_import.append(helper.make_opsetid("com.microsoft.nchwc", 1))
    save_model(model, tmp_path)
    assert [entry.domain for entry in load_model(tmp_path).opset_import] == [""]


def test_subgraphs_are_looked_into():
    def branch(value):
        constant = helper.make_tensor("value", onnx.TensorProto.FLOAT, [1], [value])
        node = helper.make_node("Constant", [], [f"c{value}"], value=constant)
        output = helper.make_tensor_value_info(f"c{value}", onnx.TensorProto.FLOAT, [1])
        return helper.make_graph([node], "branch", [], [output])

    node = helper.make_node("If", ["flag"], ["y"], then_branch=branch(1.0), else_branch=branch(2.0))
    model = graph([node], [("flag", "bool", [])], [("y", "float32", [1])])
    assert operators(model) == {"If": 1, "Constant": 2}
    assert len(list(weights(model))) == 2


def test_a_result_with_other_names_or_types_is_refused(tmp_path):
    artefact = onnx_artefact(double(), tmp_path)
    check_result(tmp_path, artefact.manifest.signature)
    (spec,) = artefact.manifest.signature.outputs
    for update in ({"name": "z"}, {"dtype": "float64"}):
        other = Signature(inputs=artefact.manifest.signature.inputs, outputs=(spec.model_copy(update=update),))
        with pytest.raises(DoesNotFit, match="it cannot take its place"):
            check_result(tmp_path, other)
    more = (*artefact.manifest.signature.inputs, TensorSpec(name="mask", dtype="int64", shape=("N",)))
    with pytest.raises(DoesNotFit, match="the inputs"):
        check_result(tmp_path, Signature(inputs=more, outputs=(spec,)))
