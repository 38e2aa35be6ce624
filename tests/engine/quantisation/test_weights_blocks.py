"""Weights in 4 and in 8 bits: what is packed, what it costs, and that nothing is changed in silence."""

import numpy as np
import onnx
import pytest
from onnx import helper

from engine.errors import DoesNotFit
from engine.graph.onnx_files import operators
from engine.quantisation.weights_int4 import WeightsInt4
from engine.quantisation.weights_int8 import WeightsInt8
from tests.model_zoo import graph, onnx_artefact, onnx_net_artefact, sample_inputs


def inside(artefact):
    return operators(onnx.load(artefact.folder / "model.onnx"))


@pytest.fixture
def dense(tmp_path):
    """Two Gemm, one with its matrix transposed, as nn.Linear is exported."""
    random = np.random.default_rng(0)
    weights = [
        ("w1", random.normal(size=(64, 128)).astype(np.float32) / 8),
        ("b1", random.normal(size=64).astype(np.float32)),
        ("w2", random.normal(size=(64, 4)).astype(np.float32) / 8),
    ]
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["a"], name="fc1", transB=1),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("Gemm", ["r", "w2"], ["y"]),
    ]
    model = graph(nodes, [("x", "float32", ["N", 128])], [("y", "float32", ["N", 4])], weights)
    return onnx_artefact(model, tmp_path / "source")


@pytest.mark.parametrize(
    ("lever", "size", "gap"),
    [(WeightsInt4(), 0.3, 0.9), (WeightsInt8(), 0.5, 0.05), (WeightsInt8(arithmetic="int8"), 0.5, 0.08)],
)
def test_gemm_is_packed_too(lever, size, gap, apply, answers, dense):
    notes, result = apply(lever, dense)
    assert notes["quantised"] == inside(result)["MatMulNBits"] == notes["gemm_rewritten"] == 2
    assert not inside(result)["Gemm"]
    assert notes["bytes_after"] < size * notes["bytes_before"]
    assert "remark" not in notes
    inputs = sample_inputs(dense.manifest.signature, 40)
    right, found = answers(dense, inputs)["y"], answers(result, inputs)["y"]
    assert 0 < np.abs(found - right).max() < gap
    assert np.corrcoef(found.ravel(), right.ravel())[0, 1] > 0.98


def test_eight_bits_keep_what_rounded_activations_lose(apply, answers, unequal_columns, tmp_path):
    source = onnx_artefact(unequal_columns, tmp_path / "source")
    x = {"x": np.random.default_rng(2).normal(size=(400, 32)).astype(np.float32)}
    _, result = apply(WeightsInt8(), source)
    agreement = (answers(result, x)["y"].argmax(1) == answers(source, x)["y"].argmax(1)).mean()
    assert agreement > 0.98


def test_lookup_tables_are_packed_where_asked(apply, tmp_path):
    source = onnx_net_artefact("transformer", tmp_path / "source")
    _, without = apply(WeightsInt4(embeddings=False, block=16), source)
    _, packed = apply(WeightsInt4(block=16), source)
    assert inside(packed)["GatherBlockQuantized"] == 1
    assert not inside(without)["GatherBlockQuantized"]
    assert inside(without)["MatMulNBits"] == inside(packed)["MatMulNBits"] == 4


def test_a_file_that_does_not_shrink_says_so(apply, tmp_path):
    notes, _ = apply(WeightsInt8(block=256), onnx_net_artefact("tabular", tmp_path / "source"))
    assert notes["remark"].startswith("the file did not shrink")


def test_nothing_to_pack_is_an_error(apply, convolutions, tmp_path):
    with pytest.raises(DoesNotFit, match="only convolutions"):
        apply(WeightsInt4(), onnx_artefact(convolutions, tmp_path / "source"))
    product = graph(
        [helper.make_node("MatMul", ["x", "z"], ["y"])],
        [("x", "float32", ["N", 3, 4]), ("z", "float32", ["N", 4, 3])],
        [("y", "float32", ["N", 3, 3])],
    )
    with pytest.raises(DoesNotFit, match="no operator was changed"):
        apply(WeightsInt8(), onnx_artefact(product, tmp_path / "product"), inputs={"x": np.ones((2, 3, 4), "f")})
