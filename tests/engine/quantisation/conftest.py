"""Small ONNX models of CASES.md on which quantisers go wrong, and a way to apply a lever to them."""

import numpy as np
import pytest
from onnx import helper

from engine.plugin import Artefact, Context, Split
from engine.runtimes.onnxruntime_cpu import OnnxruntimeCpu
from tests.model_zoo import graph, sample_inputs


@pytest.fixture
def apply(tmp_path):
    def run(lever, artefact, inputs=None, seed=0):
        out = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        out.mkdir()
        rows = Split(inputs=inputs if inputs is not None else sample_inputs(artefact.manifest.signature, 40))
        notes = lever.apply(artefact, out, Context(data_id="0", train=rows, calibration=rows, seed=seed))
        return notes, Artefact(artefact.manifest, out)

    return run


@pytest.fixture
def answers():
    def run(artefact, inputs):
        with OnnxruntimeCpu().open(artefact) as predict:
            return predict(inputs)

    return run


@pytest.fixture
def convolutions():
    """Three 3x3 convolutions and no dense layer (case P21, smaller)."""
    random = np.random.default_rng(0)
    shapes = [(8, 3, 3, 3), (16, 8, 3, 3), (16, 16, 3, 3)]
    nodes, name = [], "x"
    for k in range(3):
        nodes += [
            helper.make_node("Conv", [name, f"w{k}"], [f"a{k}"], name=f"c{k}", pads=[1] * 4),
            helper.make_node("Relu", [f"a{k}"], [f"r{k}"], name=f"re{k}"),
        ]
        name = f"r{k}"
    nodes += [helper.make_node("GlobalAveragePool", [name], ["p"]), helper.make_node("Flatten", ["p"], ["y"])]
    weights = [(f"w{k}", (random.normal(size=s) * 0.1).astype(np.float32)) for k, s in enumerate(shapes)]
    return graph(nodes, [("x", "float32", ["N", 3, 12, 12])], [("y", "float32", ["N", 16])], weights)


@pytest.fixture
def unequal_columns():
    """A weight matrix whose columns differ by 60,000 times, scaled back behind it (case P23)."""
    random = np.random.default_rng(1)
    scale = np.geomspace(1e-3, 60, 64)
    first = (random.normal(size=(32, 64)) * scale).astype(np.float32)
    second = random.normal(size=(64, 4)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["a"], name="fc0"),
        helper.make_node("Mul", ["a", "inverse"], ["z"], name="rescale"),
        helper.make_node("Relu", ["z"], ["r"], name="act"),
        helper.make_node("MatMul", ["r", "w2"], ["y"], name="fc1"),
    ]
    weights = [("w1", first), ("inverse", (1 / scale).astype(np.float32)), ("w2", second)]
    return graph(nodes, [("x", "float32", ["N", 32])], [("y", "float32", ["N", 4])], weights)
