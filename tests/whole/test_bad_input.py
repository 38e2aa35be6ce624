"""Models and data that open but cannot be used: one sentence each, and no half-written file."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from onnx import TensorProto, helper, save

from engine.errors import BadData, BadModel, Mismatch


def model(path, *operators, width=2, classes=None):
    """A net over float32 `x` (N, width) made of unary operators, with the output `y`; classes: named in the file."""
    names = ["x", *(f"t{i}" for i in range(len(operators) - 1)), "y"]
    nodes = [helper.make_node(op, [a], [b]) for op, (a, b) in zip(operators, pairwise(names), strict=True)]
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", width]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", tensors[:1], tensors[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    helper.set_model_props(made, {"classes": classes} if classes else {})
    save(made, path)
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


def test_labels_that_are_no_classes_of_the_model_are_named_on_both_sides(make, tmp_path):
    files = (
        model(tmp_path / "m.onnx", "Softmax", classes="no,yes"),
        table(tmp_path / "d.csv", label=["ja", "nein"] * 150),
    )
    with pytest.raises(Mismatch, match="label values ja, nein are not among the model's classes no, yes"):
        make(*files)
    assert make(*files, classes=("nein", "ja")).study.signature.classes == ("nein", "ja")


ONE, ZERO = np.ones(300, int), np.zeros(300, int)
COIN = np.arange(300) % 2


@pytest.mark.parametrize(
    ("columns", "labels", "say"),
    [
        ({"p": COIN, "q": COIN * 2}, ("p", "q"), "row 2, column q: 2 is neither 0 nor 1"),
        ({"p": COIN, "q": np.where(COIN, np.nan, 1)}, ("p", "q"), "row 2, column q: the label is missing"),
        ({"p": ZERO, "q": ONE}, ("p", "q"), "each of the labels p, q is the same in all 300 rows"),
        ({"p": COIN, "q": COIN, "r": COIN}, ("p", "q", "r"), r"3 labels \(p, q, r\), output y gives 2 scores"),
        ({"p": COIN, "q": COIN, "weight": COIN - 1.0}, ("p", "q"), "row 1, weight column weight: -1.0 is no weight"),
    ],
)
def test_several_labels_that_cannot_be_judged_are_refused(make, tmp_path, columns, labels, say):
    files = model(tmp_path / "m.onnx", "Sigmoid"), table(tmp_path / "d.csv", **columns)
    with pytest.raises((BadData, Mismatch), match=say):
        make(*files, labels=labels, feature_order=("a", "b"))
    assert drafts(tmp_path) == []


def test_a_label_that_no_row_has_is_said_and_has_no_number(make, tmp_path):
    files = model(tmp_path / "m.onnx", "Sigmoid"), table(tmp_path / "d.csv", p=COIN, q=ZERO)
    made = make(*files, labels=("p", "q"), feature_order=("a", "b"))
    assert "No row of 300 has the label q: whether it is kept cannot be judged" in made.info.notes
    lost = next(one for one in made.quality().slices if one.value == "q")
    assert (lost.baseline, lost.drop, lost.bound, lost.reason) == (None, None, None, "only one class")


def test_a_label_column_that_says_nan_for_every_row_is_refused(make, tmp_path):
    files = model(tmp_path / "m.onnx", "Sigmoid"), table(tmp_path / "d.csv", p=[np.nan] * 300, q=[np.nan] * 300)
    with pytest.raises(BadData, match="no row of 300 has a label in p, q"):
        make(*files, labels=("p", "q"), feature_order=("a", "b"))
