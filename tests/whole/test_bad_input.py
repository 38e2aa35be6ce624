"""Models and data that open but cannot be used: one sentence each, and no half-written file."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from onnx import TensorProto, helper, save

from engine.errors import BadData, BadModel, Mismatch


def model(path, *operators, width=2):
    """A net over float32 `x` (N, width) made of unary operators, with the output `y`."""
    names = ["x", *(f"t{i}" for i in range(len(operators) - 1)), "y"]
    nodes = [helper.make_node(op, [a], [b]) for op, (a, b) in zip(operators, pairwise(names), strict=True)]
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", width]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", tensors[:1], tensors[1:])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def table(path, **columns):
    rng = np.random.default_rng(0)
    given = {"a": rng.normal(size=300), "b": rng.normal(size=300), "label": rng.integers(0, 2, 300)}
    pd.DataFrame(given | columns).to_csv(path, index=False)
    return path


def drafts(tmp_path):
    return list((tmp_path / "home" / "tmp").iterdir())


@pytest.mark.parametrize(
    ("operators", "error", "say"),
    [
        (("Log",), BadModel, "NaN or infinity for"),
        (("RandomNormalLike",), BadModel, "other answers the second time"),
    ],
)
def test_answers_that_mean_nothing_are_refused(make, tmp_path, operators, error, say):
    with pytest.raises(error, match=say):
        make(model(tmp_path / "m.onnx", *operators), table(tmp_path / "d.csv"))
    assert drafts(tmp_path) == []


def test_a_batch_axis_that_is_lost_is_named(make, tmp_path):
    with pytest.raises(BadModel, match="first axis must be the batch"):
        make(model(tmp_path / "m.onnx", "Transpose"), table(tmp_path / "d.csv"))


def test_columns_that_do_not_fill_the_input_are_counted(make, tmp_path):
    with pytest.raises(Mismatch, match=r"3.*5|5.*3"):
        make(model(tmp_path / "m.onnx", "Sigmoid", width=5), table(tmp_path / "d.csv", c=np.arange(300) / 7))


@pytest.mark.parametrize(
    ("columns", "choices", "say"),
    [
        ({"label": np.ones(300, int)}, {}, "all labels"),
        ({"label": np.arange(300) % 3}, {}, "label"),
        ({}, {"label": "answer"}, "answer"),
        ({"a": ["red"] * 300}, {}, "takes 2 columns"),
    ],
)
def test_data_that_cannot_be_judged_are_refused(make, tmp_path, columns, choices, say):
    with pytest.raises((BadData, Mismatch), match=say):
        make(model(tmp_path / "m.onnx", "Softmax"), table(tmp_path / "d.csv", **columns), **choices)
    assert drafts(tmp_path) == []
