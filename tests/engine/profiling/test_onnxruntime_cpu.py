import numpy as np
import pytest
from onnx import TensorProto, helper

from engine.profiling.onnxruntime_cpu import operators, own_times, summed
from engine.profiling.profiler import Task
from engine.runtimes.onnxruntime_cpu import OnnxruntimeCpu
from tests.model_zoo import graph, onnx_artefact, onnx_net_artefact


def task(artefact, inputs, folder, n_calls=6):
    return Task(artefact=artefact, inputs=lambda call: inputs, n_calls=n_calls, threads=1, folder=folder)


def test_every_node_of_the_graph_that_runs(tmp_path):
    """Three products and one Relu; without optimisation nothing is fused."""
    width = 64
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MatMul", ["b", "w"], ["c"]),
        helper.make_node("MatMul", ["c", "w"], ["y"]),
    ]
    weights = np.random.default_rng(0).normal(size=(width, width)).astype(np.float32)
    model = graph(nodes, [("x", "float32", ["N", width])], [("y", "float32", ["N", width])], [("w", weights)])
    artefact = onnx_artefact(model, tmp_path / "model")
    rows = {"x": np.ones((256, width), np.float32)}
    found = {cost.op: cost for cost in operators(OnnxruntimeCpu(optimisation="off"), task(artefact, rows, tmp_path))}
    assert {op: cost.n for op, cost in found.items()} == {"MatMul": 3, "Relu": 1}
    assert found["MatMul"].share > found["Relu"].share
    assert sum(cost.share for cost in found.values()) == pytest.approx(1)
    assert found["MatMul"].total_ms > 0


def test_the_graph_is_the_one_the_runtime_opens(tmp_path):
    artefact = onnx_net_artefact("conv", tmp_path / "model")
    rows = {artefact.manifest.signature.inputs[0].name: np.ones((4, 1, 8, 8), np.float32)}
    plain = {cost.op for cost in operators(OnnxruntimeCpu(optimisation="off"), task(artefact, rows, tmp_path))}
    fused = {cost.op for cost in operators(OnnxruntimeCpu(), task(artefact, rows, tmp_path))}
    assert "Relu" in plain
    assert "Relu" not in fused  # now part of the convolution


def test_a_subgraph_is_counted_by_itself(tmp_path):
    """If takes what it adds; the product inside is a product."""
    inner = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["inner"])], "then", [],
        [helper.make_tensor_value_info("inner", TensorProto.FLOAT, None)],
    )  # fmt: skip
    other = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["same"])], "else", [],
        [helper.make_tensor_value_info("same", TensorProto.FLOAT, None)],
    )  # fmt: skip
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Cast", ["sum"], ["yes"], to=TensorProto.BOOL),
        helper.make_node("If", ["yes"], ["y"], then_branch=inner, else_branch=other),
    ]
    weights = np.ones((256, 256), np.float32)
    model = graph(nodes, [("x", "float32", ["N", 256])], [("y", "float32", ["N", 256])], [("w", weights)])
    rows = {"x": np.ones((256, 256), np.float32)}
    found = {
        cost.op: cost
        for cost in operators(OnnxruntimeCpu(), task(onnx_artefact(model, tmp_path / "model"), rows, tmp_path))
    }
    assert found["MatMul"].n == 1
    assert found["MatMul"].total_ms > found["If"].total_ms
    assert sum(cost.share for cost in found.values()) == pytest.approx(1)


def node(op, start, dur, thread=1):
    return {"name": f"{op}_kernel_time", "ts": start, "dur": dur, "tid": thread, "args": {"op_name": op}}


def test_own_time_is_without_what_runs_inside():
    nodes = [node("Loop", 0, 100), node("Add", 10, 20), node("If", 40, 30), node("Mul", 45, 5), node("Relu", 100, 7)]
    own = {op: ms * 1000 for _, op, ms in own_times(nodes)}
    assert own == pytest.approx({"Loop": 50, "Add": 20, "If": 25, "Mul": 5, "Relu": 7})


def test_threads_do_not_lie_inside_each_other():
    own = {op: ms * 1000 for _, op, ms in own_times([node("A", 0, 100, 1), node("B", 10, 20, 2)])}
    assert own == pytest.approx({"A": 100, "B": 20})


def test_the_warm_up_is_left_out():
    runs = [{"name": "model_run", "ts": ts, "dur": 50} for ts in (0, 100, 200)]
    nodes = [node("MatMul", 10, 40), node("MatMul", 110, 4), node("MatMul", 210, 6)]
    (found,) = summed([*runs, *nodes, {"name": "session_initialization", "ts": -5, "dur": 3}], 1, 2)
    assert (found.op, found.n) == ("MatMul", 1)
    assert found.total_ms == pytest.approx(0.004)  # the faster half of two
