import numpy as np
import onnx
import pytest
from onnx import helper

from engine.errors import DoesNotFit
from engine.graph.onnx_files import operators
from engine.quantisation.equalise_inputs import EqualiseInputs
from engine.quantisation.int8_dynamic import Int8Dynamic
from tests.model_zoo import graph, onnx_artefact

N_COLUMNS = 16


@pytest.fixture
def badly_scaled(tmp_path):
    """A net on a table whose fourth column is 300 times as large as the others, and rows for it."""
    random = np.random.default_rng(0)
    first = random.normal(size=(64, N_COLUMNS)).astype(np.float32)
    first[:, 3] /= 300
    weights = [("w1", first), ("b1", np.zeros(64, np.float32))]
    weights.append(("w2", random.normal(size=(64, 3)).astype(np.float32)))
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["a"], name="fc1", transB=1),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("MatMul", ["r", "w2"], ["y"], name="fc2"),
    ]
    model = graph(nodes, [("x", "float32", ["N", N_COLUMNS])], [("y", "float32", ["N", 3])], weights)
    rows = random.normal(size=(500, N_COLUMNS)).astype(np.float32)
    rows[:, 3] *= 300
    return onnx_artefact(model, tmp_path / "source"), {"x": rows}


def test_answers_stay_and_int8_no_longer_breaks(apply, answers, badly_scaled):
    source, rows = badly_scaled
    right = answers(source, rows)["y"]
    notes, equal = apply(EqualiseInputs(), source, rows)
    np.testing.assert_allclose(answers(equal, rows)["y"], right, atol=1e-4 * np.abs(right).max())
    assert (notes["equalised"], notes["rows_used"]) == ("x", 500)
    assert 200 < notes["spread_before"] < 500
    agreement = []
    for each in (source, equal):
        _, quantised = apply(Int8Dynamic(), each, rows)
        agreement.append((answers(quantised, rows)["y"].argmax(1) == right.argmax(1)).mean())
    assert agreement[0] < 0.8
    assert agreement[1] > 0.95


def test_a_column_of_zeros_and_gaps_keep_their_scale(apply, answers, badly_scaled):
    source, rows = badly_scaled
    x = rows["x"].copy()
    x[:, 5], x[0, 6], x[1, 7] = 0, np.nan, np.inf
    _, equal = apply(EqualiseInputs(), source, {"x": x})
    assert np.isfinite(answers(equal, rows)["y"]).all()


def test_one_scale_already_is_said(apply, badly_scaled):
    source, rows = badly_scaled
    with pytest.raises(DoesNotFit, match="have the same scale"):
        apply(EqualiseInputs(), source, {"x": np.ones_like(rows["x"])})


def test_an_input_that_feeds_something_else_is_named(apply, tmp_path):
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("MatMul", ["r", "w"], ["y"])]
    weights = [("w", np.ones((4, 2), np.float32))]
    model = graph(nodes, [("x", "float32", ["N", 4])], [("y", "float32", ["N", 2])], weights)
    rows = {"x": np.array([[1, 2, 3, 400.0]] * 8, np.float32)}
    with pytest.raises(DoesNotFit, match="'x' goes into Relu, not straight into a dense layer"):
        apply(EqualiseInputs(), onnx_artefact(model, tmp_path / "source"), rows)


def test_every_reader_of_the_input_is_folded(apply, answers, tmp_path):
    random = np.random.default_rng(3)
    weights = [("w", random.normal(size=(4, 2)).astype(np.float32)), ("v", np.ones((4, 2), np.float32))]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("MatMul", ["x", "v"], ["b"]),
        helper.make_node("Add", ["a", "b"], ["y"]),
    ]
    model = graph(nodes, [("x", "float32", ["N", 4])], [("y", "float32", ["N", 2])], weights)
    source = onnx_artefact(model, tmp_path / "source")
    rows = {"x": (random.normal(size=(50, 4)) * [1, 10, 100, 0.1]).astype(np.float32)}
    _, equal = apply(EqualiseInputs(), source, rows)
    np.testing.assert_allclose(answers(equal, rows)["y"], answers(source, rows)["y"], rtol=1e-4, atol=1e-3)
    assert operators(onnx.load(equal.folder / "model.onnx"))["Mul"] == 1
