import numpy as np
import onnx
import pytest
from onnx import helper

from engine.errors import DoesNotFit, Mismatch
from engine.runtimes.onnxruntime_cpu import OnnxruntimeCpu
from tests.model_zoo import graph, net, onnx_artefact, onnx_net_artefact, sample_inputs, zipmap_model


def run(artefact, inputs, **params):
    with OnnxruntimeCpu(**params).open(artefact) as predict:
        return predict(inputs)


def test_several_inputs_of_other_kinds(tmp_path):
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["e"]),
        helper.make_node("Concat", ["e", "dense"], ["c"], axis=1),
        helper.make_node("MatMul", ["c", "w"], ["y"]),
    ]
    table, w = np.arange(20, dtype=np.float32).reshape(10, 2), np.ones((4, 2), np.float32)
    inputs = [("ids", "int64", ["N"]), ("dense", "float32", ["N", 2])]
    model = graph(nodes, inputs, [("y", "float32", ["N", 2])], [("table", table), ("w", w)])
    artefact = onnx_artefact(model, tmp_path)
    feed = {"ids": np.array([0, 9]), "dense": np.ones((2, 2), np.float32)}
    np.testing.assert_array_equal(run(artefact, feed)["y"], [[3, 3], [39, 39]])
    with pytest.raises(Mismatch, match=r"stopped on these rows.*out of data bounds"):
        run(artefact, feed | {"ids": np.array([0, 10])})


def test_text_goes_in_and_comes_out(tmp_path):
    model = graph([helper.make_node("Identity", ["s"], ["o"])], [("s", "string", ["N"])], [("o", "string", ["N"])])
    out = run(onnx_artefact(model, tmp_path), {"s": np.array(["red", "größe"])})["o"]
    assert out.tolist() == ["red", "größe"]
    assert out.dtype.kind == "U"


@pytest.mark.parametrize("labels", [("yes", "no"), ("b", "a"), (10, 9)])
def test_zipmap_becomes_columns_ordered_by_key(tmp_path, labels):
    model = zipmap_model(labels)
    out = run(onnx_artefact(model, tmp_path), sample_inputs(onnx_artefact(model, tmp_path).manifest.signature))
    score = out["output_probability"]
    assert score.shape == (12, 2)
    assert score.dtype == np.float32
    np.testing.assert_array_equal(np.sort(np.array(labels))[score.argmax(1)], out["output_label"])


@pytest.mark.parametrize("name", ["tabular", "conv", "transformer", "two_outputs", "static"])
def test_nets_answer_like_pytorch(name, tmp_path):
    import torch

    artefact = onnx_net_artefact(name, tmp_path)
    inputs = sample_inputs(artefact.manifest.signature)
    with torch.no_grad():
        expected = net(name)[0](*[torch.from_numpy(inputs[spec.name]) for spec in artefact.manifest.signature.inputs])
    expected = list(expected.values()) if isinstance(expected, dict) else [expected]
    for params in ({}, {"optimisation": "basic", "fuse_layer_norm": False, "spinning": True}):
        out = run(artefact, inputs, **params)
        for i, tensor in enumerate(expected):
            np.testing.assert_allclose(out[f"output_{i}"], tensor.numpy(), atol=1e-5)


def test_external_data_is_found_beside_the_file(tmp_path):
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    w = np.eye(3, dtype=np.float32) * 2
    model = graph([node], [("x", "float32", ["N", 3])], [("y", "float32", ["N", 3])], [("w", w)])
    artefact = onnx_artefact(model, tmp_path)
    onnx.save_model(
        model, tmp_path / "model.onnx", save_as_external_data=True, location="model.onnx.data", size_threshold=0
    )
    np.testing.assert_array_equal(run(artefact, {"x": np.ones((1, 3), np.float32)})["y"], [[2, 2, 2]])


def test_what_onnx_runtime_cannot_load_is_one_sentence_without_our_paths(tmp_path):
    node = helper.make_node("Gelu", ["x"], ["y"])
    artefact = onnx_artefact(graph([node], [("x", "float32", ["N"])], [("y", "float32", ["N"])], opset=9), tmp_path)
    with pytest.raises(DoesNotFit, match=r"cannot load this model: .*Gelu") as caught:
        run(artefact, {"x": np.ones(1, np.float32)})
    assert str(tmp_path) not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_wrong_types_are_refused_not_cast(tmp_path):
    artefact = onnx_net_artefact("tabular", tmp_path)
    name = artefact.manifest.signature.inputs[0].name
    with pytest.raises(Mismatch, match="float64, the model takes float32"):
        run(artefact, {name: np.zeros((2, 6))})
    with pytest.raises(Mismatch, match="shape"):
        run(artefact, {name: np.zeros((2, 5), np.float32)})
    with pytest.raises(Mismatch, match=r"shape \(3, 6\), the model takes \(4, 6\)"):
        run(onnx_net_artefact("static", tmp_path), {name: np.zeros((3, 6), np.float32)})
