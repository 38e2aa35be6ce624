"""Zeros are counted, the compressed size is measured, and nobody is promised speed (case P36)."""

import gzip

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from engine.errors import DoesNotFit
from engine.plugin import Context, Split
from engine.pruning.weights import Weights
from tests.model_zoo import graph, onnx_artefact


@pytest.fixture
def source(tmp_path):
    random = np.random.default_rng(0)
    weights = [
        ("w1", random.normal(size=(64, 96)).astype(np.float32)),
        ("w2", (random.normal(size=(96, 32)) / 10).astype(np.float32)),
        ("w3", random.normal(size=(32, 3)).astype(np.float32)),
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["a"]),
        helper.make_node("Gemm", ["a", "w2"], ["b"]),
        helper.make_node("MatMul", ["b", "w3"], ["y"]),
    ]
    model = graph(nodes, [("x", "float32", ["N", 64])], [("y", "float32", ["N", 3])], weights)
    return onnx_artefact(model, tmp_path / "source")


@pytest.fixture
def prune(source, tmp_path):
    def run(lever, artefact=source):
        out = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        out.mkdir()
        rows = Split(inputs={"x": np.ones((4, 64), np.float32)})
        notes = lever.apply(artefact, out, Context(data_id="0", train=rows, calibration=rows))
        model = onnx.load(out / "model.onnx")
        return notes, {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}, out

    return run


def test_p36_sparsity_and_compressed_size_are_said_and_no_speed(prune):
    notes, weights, out = prune(Weights(share=0.8))
    assert notes["sparsity"] == pytest.approx(0.8, abs=0.01)
    zeros = sum(int((weights[name] == 0).sum()) for name in ("w1", "w2"))
    assert notes["zeros"] == zeros
    assert notes["bytes_after"] == pytest.approx(notes["bytes_before"], rel=0.01)
    assert notes["compressed_bytes_after"] < 0.5 * notes["compressed_bytes_before"]
    packed = len(gzip.compress((out / "model.onnx").read_bytes(), 6))
    assert notes["compressed_bytes_after"] == pytest.approx(packed, abs=64)
    assert "no speed gain with dense kernels" in notes["remark"]


def test_the_smallest_go_and_the_rest_stay(prune, source):
    before = {
        each.name: numpy_helper.to_array(each) for each in onnx.load(source.folder / "model.onnx").graph.initializer
    }
    _, weights, _ = prune(Weights(share=0.3))
    for name in ("w1", "w2"):
        gone = weights[name] == 0
        assert gone.mean() == pytest.approx(0.3, abs=0.01)
        assert np.abs(before[name][gone]).max() <= np.abs(before[name][~gone]).min()
        np.testing.assert_array_equal(weights[name][~gone], before[name][~gone])
    np.testing.assert_array_equal(weights["w3"], before["w3"])


def test_over_the_whole_net_small_layers_lose_more(prune):
    _, weights, _ = prune(Weights(share=0.4, within="net", spare_last=False))
    assert (weights["w2"] == 0).mean() > 2 * (weights["w1"] == 0).mean()


def test_a_second_time_changes_nothing_and_says_so(prune, source):
    _, _, out = prune(Weights(share=0.5))
    with pytest.raises(DoesNotFit, match="no weight was changed"):
        prune(Weights(share=0.5), type(source)(source.manifest, out))
