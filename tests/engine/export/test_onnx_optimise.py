import numpy as np
import onnx
import pytest
from onnx import helper

from engine.export.onnx_optimise import OnnxOptimise
from engine.graph.zipmap import drop_zipmap
from engine.plugin import Artefact, Context, Split
from engine.runtimes.onnxruntime_cpu import OnnxruntimeCpu
from tests.model_zoo import graph, onnx_artefact, onnx_net_artefact, sample_inputs, zipmap_artefact, zipmap_model

NOTHING = Context(data_id="0", train=Split({}), calibration=Split({}))
PLAIN = {"", "ai.onnx", "ai.onnx.ml", "com.microsoft"}


def optimise(artefact, tmp_path, **params):
    out = tmp_path / "out"
    out.mkdir()
    notes = OnnxOptimise(**params).apply(artefact, out, NOTHING)
    return notes, Artefact(artefact.manifest, out)


def answers(artefact, inputs):
    with OnnxruntimeCpu(optimisation="off").open(artefact) as predict:
        return predict(inputs)


@pytest.mark.parametrize("level", ["basic", "extended", "all"])
@pytest.mark.parametrize("name", ["conv", "transformer", "tabular"])
def test_answers_stay_at_every_level(name, level, tmp_path):
    artefact = onnx_net_artefact(name, tmp_path / "source")
    inputs = sample_inputs(artefact.manifest.signature)
    notes, result = optimise(artefact, tmp_path, level=level)
    assert notes["nodes_after"] <= notes["nodes_before"] + 4
    model = onnx.load(result.folder / "model.onnx")
    if level != "all":
        assert {entry.domain for entry in model.opset_import} <= PLAIN
    assert ("remark" in notes) == any(node.domain == "com.microsoft.nchwc" for node in model.graph.node)
    np.testing.assert_allclose(answers(result, inputs)["output_0"], answers(artefact, inputs)["output_0"], atol=1e-5)


def test_constants_are_folded_and_the_fused_operators_named(tmp_path):
    nodes = [
        helper.make_node("Add", ["a", "b"], ["c"]),
        helper.make_node("MatMul", ["x", "c"], ["m"]),
        helper.make_node("Relu", ["m"], ["r"]),
        helper.make_node("Identity", ["r"], ["y"]),
    ]
    square = np.ones((3, 3), np.float32)
    model = graph(nodes, [("x", "float32", ["N", 3])], [("y", "float32", ["N", 3])], [("a", square), ("b", square * 2)])
    notes, result = optimise(onnx_artefact(model, tmp_path / "source"), tmp_path)
    assert (notes["nodes_before"], notes["nodes_after"]) == (4, 2)
    np.testing.assert_array_equal(answers(result, {"x": np.ones((1, 3), np.float32)})["y"], [[9, 9, 9]])


@pytest.mark.parametrize("labels", [("yes", "no"), (7, 3)])
def test_zipmap_is_removed_only_when_asked(labels, tmp_path):
    artefact = onnx_artefact(zipmap_model(labels), tmp_path / "source")
    inputs = sample_inputs(artefact.manifest.signature)
    notes, kept = optimise(artefact, tmp_path)
    assert "zipmaps_removed" not in notes
    assert "ZipMap" in {node.op_type for node in onnx.load(kept.folder / "model.onnx").graph.node}
    (tmp_path / "second").mkdir()
    notes, result = optimise(artefact, tmp_path / "second", remove_zipmap=True)
    assert notes["zipmaps_removed"] == 1
    assert "ZipMap" not in {node.op_type for node in onnx.load(result.folder / "model.onnx").graph.node}
    right, found = answers(artefact, inputs), answers(result, inputs)
    np.testing.assert_array_equal(found["output_probability"], right["output_probability"])
    np.testing.assert_array_equal(found["output_label"], right["output_label"])


def test_zipmap_columns_are_put_in_key_order(tmp_path):
    model = zipmap_model()
    for node in model.graph.node:
        for attribute in node.attribute:
            if node.op_type == "ZipMap" and attribute.name == "classlabels_strings":
                attribute.strings[:] = list(attribute.strings)[::-1]
    artefact = onnx_artefact(model, tmp_path / "source")
    inputs = sample_inputs(artefact.manifest.signature)
    assert drop_zipmap(model) == 1
    result = onnx_artefact(model, tmp_path / "result")
    np.testing.assert_array_equal(
        answers(result, inputs)["output_probability"], answers(artefact, inputs)["output_probability"]
    )


def test_external_data_is_read_and_the_result_stands_alone(tmp_path):
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    w = np.eye(3, dtype=np.float32) * 2
    model = graph([node], [("x", "float32", ["N", 3])], [("y", "float32", ["N", 3])], [("w", w)])
    artefact = onnx_artefact(model, tmp_path / "source")
    path = artefact.folder / "model.onnx"
    onnx.save_model(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    _, result = optimise(artefact, tmp_path)
    assert [p.name for p in result.folder.iterdir()] == ["model.onnx"]
    np.testing.assert_array_equal(answers(result, {"x": np.ones((1, 3), np.float32)})["y"], [[2, 2, 2]])


def test_a_graph_with_nothing_to_do_still_gives_a_file(tmp_path):
    notes, result = optimise(zipmap_artefact(tmp_path / "source"), tmp_path, level="basic")
    assert notes["nodes_after"] <= notes["nodes_before"]
    assert (result.folder / "model.onnx").stat().st_size > 0
