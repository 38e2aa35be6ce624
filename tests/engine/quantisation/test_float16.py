import numpy as np
import onnx
import pytest
from onnx import helper

from engine.errors import DoesNotFit
from engine.forest.lightgbm_text import parse
from engine.forest.onnx_tree_ensemble import to_onnx
from engine.quantisation.float16 import Float16
from tests.model_zoo import forest_text, graph, onnx_artefact, onnx_net_artefact, sample_inputs, zipmap_artefact


@pytest.mark.parametrize("name", ["tabular", "conv", "transformer", "two_outputs", "static"])
def test_half_the_weights_and_nearly_the_same_answers(apply, answers, tmp_path, name):
    source = onnx_net_artefact(name, tmp_path / "source")
    notes, result = apply(Float16(), source)
    onnx.checker.check_model(onnx.load(result.folder / "model.onnx"))
    halves = [t for t in onnx.load(result.folder / "model.onnx").graph.initializer if t.data_type == 10]
    assert 0 < len(halves) <= notes["converted"]
    inputs = sample_inputs(source.manifest.signature)
    for key, right in answers(source, inputs).items():
        found = answers(result, inputs)[key]
        assert found.dtype == right.dtype
        np.testing.assert_allclose(found, right, atol=5e-3)


def test_a_cast_to_float_in_the_middle_does_not_break_the_file(apply, answers, tmp_path):
    """Case P19: onnxconverter-common leaves a Cast whose type no longer fits, and the file does not load."""
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["a"], name="fc"),
        helper.make_node("Cast", ["a"], ["c"], name="to32", to=1),
        helper.make_node("Softmax", ["c"], ["y"], name="sm"),
    ]
    weights = [("w", np.c_[-np.ones(4), np.ones(4)].astype(np.float32)), ("b", np.float32([3, -3]))]
    model = graph(nodes, [("x", "float32", ["N", 4])], [("y", "float32", ["N", 2])], weights)
    source = onnx_artefact(model, tmp_path / "source")
    _, result = apply(Float16(), source)
    x = {"x": np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)}
    np.testing.assert_allclose(answers(result, x)["y"], answers(source, x)["y"], atol=2e-3)


def test_the_file_halves_and_the_speed_is_not_promised(apply, tmp_path, monkeypatch):
    """Case P20: ONNX Runtime computes half precision in FP32 on most CPUs."""
    w = np.random.default_rng(0).normal(size=(256, 256)).astype(np.float32)
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    model = graph([node], [("x", "float32", ["N", 256])], [("y", "float32", ["N", 256])], [("w", w)])
    source = onnx_artefact(model, tmp_path / "source")
    monkeypatch.setattr("engine.quantisation.float16.cpu_flags", lambda: frozenset({"avx2"}))
    notes, _ = apply(Float16(), source)
    assert notes["bytes_after"] < 0.52 * notes["bytes_before"]
    assert "FP32 on this CPU" in notes["computed_in"]
    monkeypatch.setattr("engine.quantisation.float16.cpu_flags", lambda: frozenset({"asimdhp"}))
    assert "computed_in" not in apply(Float16(), source)[0]


def test_weights_beyond_the_range_are_counted(apply, tmp_path):
    w = np.full((4, 4), 1.0, np.float32)
    w[0, :3] = [1e5, -7e4, np.inf]
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    model = graph([node], [("x", "float32", ["N", 4])], [("y", "float32", ["N", 4])], [("w", w)])
    notes, _ = apply(Float16(), onnx_artefact(model, tmp_path / "source"))
    assert notes["remark"].startswith("2 weights were beyond")


@pytest.mark.parametrize("make", [zipmap_artefact, lambda f: onnx_artefact(to_onnx(parse(forest_text("rf"))), f)])
def test_nothing_to_convert_is_said(apply, tmp_path, make):
    with pytest.raises(DoesNotFit, match="no MatMul/Conv inside"):
        apply(Float16(), make(tmp_path / "source"))
