import re

import lightgbm as lgb
import numpy as np
import onnx
import onnxruntime as ort
import pytest

from engine.errors import DoesNotFit
from engine.forest.forest import ZERO
from engine.forest.lightgbm_text import parse, write
from engine.forest.onnx_tree_ensemble import to_onnx, tree_attributes, why_not
from tests.model_zoo import FORESTS, N_COLUMNS, adversarial_rows, booster, forest_text

REFUSED = {"linear": "linear trees cannot be converted", "custom": "objective is custom"}
EXACT = [name for name in FORESTS if name not in REFUSED]


def answers(model, rows):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(["score"], {"features": rows})[0]


def raw_model(forest):
    """The same graph without average and link, so that sums can be compared bit for bit."""
    model = to_onnx(forest)
    position = next(i for i, node in enumerate(model.graph.node) if node.op_type == "TreeEnsemble")
    del model.graph.node[position + 1 :]
    model.graph.node[position].output[0] = "score"
    del model.graph.output[:]
    shape = ["N", forest.n_classes]
    model.graph.output.append(onnx.helper.make_tensor_value_info("score", onnx.TensorProto.DOUBLE, shape))
    return model


@pytest.mark.parametrize("name", EXACT)
def test_raw_sums_are_the_native_bits(name):
    rows = adversarial_rows(name)
    expected = booster(name).predict(rows, raw_score=True, num_threads=1).reshape(len(rows), -1)
    np.testing.assert_array_equal(answers(raw_model(parse(forest_text(name))), rows), expected)


@pytest.mark.parametrize("name", EXACT)
def test_answers_are_the_native_ones_within_rounding(name):
    rows = adversarial_rows(name)
    expected = booster(name).predict(rows, num_threads=1)
    found = answers(to_onnx(parse(forest_text(name))), rows)
    assert found.shape == expected.shape
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=4e-15, atol=0)


@pytest.mark.parametrize("name", ["regression", "root", "root_l1", "ranking", "constant"])
def test_answers_without_an_exponential_are_the_native_bits(name):
    rows = adversarial_rows(name)
    expected = booster(name).predict(rows, num_threads=1)
    np.testing.assert_array_equal(answers(to_onnx(parse(forest_text(name))), rows), expected)


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_exact_form_is_refused_with_the_reason(name):
    forest = parse(forest_text(name))
    assert REFUSED[name] in why_not(forest)
    with pytest.raises(DoesNotFit, match=REFUSED[name]):
        to_onnx(forest)


def with_thresholds(value):
    """The binary model with every threshold of every tree replaced."""
    text = re.sub("tree_sizes=.*\n", "", forest_text("binary"))
    swap = lambda found: "\nthreshold=" + " ".join([repr(value)] * len(found.group(1).split())) + "\n"  # noqa: E731
    return parse(re.sub(r"\nthreshold=(.*)\n", swap, text))


TINY = [0.0, -0.0, 1e-36, -1e-36, 5e-324, ZERO, -ZERO, np.nextafter(ZERO, 1), -np.nextafter(ZERO, 1)]
TINY += [np.nextafter(ZERO, 0), -np.nextafter(ZERO, 0), np.nextafter(-ZERO, -1)]


@pytest.mark.parametrize("threshold", TINY)
def test_values_too_small_for_lightgbm_count_as_zero(threshold):
    forest = with_thresholds(float(threshold))
    values = np.array([*TINY, np.nan, 1.0, -1.0, 2e-35, -2e-35])
    rows = np.random.default_rng(0).choice(values, size=(400, N_COLUMNS))
    native = lgb.Booster(model_str=write(forest)).predict(rows, raw_score=True, num_threads=1)
    np.testing.assert_array_equal(answers(raw_model(forest), rows)[:, 0], native)


def test_a_column_read_in_three_ways_in_one_forest():
    """Plain, zero as missing and as category: no single training gives it, a continued one may."""
    forest = parse(forest_text("categorical"))
    for tree in forest.trees:
        numeric = ~tree.categorical
        tree.decision[numeric] = np.resize([0, 2, 4, 6, 8, 10], numeric.sum())
        tree.feature[:] = np.resize([4, 3, 4, 0], tree.n_nodes)
    rows = adversarial_rows("categorical")
    native = lgb.Booster(model_str=write(forest)).predict(rows, raw_score=True, num_threads=1)
    np.testing.assert_array_equal(answers(raw_model(forest), rows)[:, 0], native)


def test_empty_category_set_sends_every_row_right():
    forest = parse(forest_text("categorical"))
    for tree in forest.trees:
        tree.set_words[:] = 0
    rows = adversarial_rows("categorical")
    native = lgb.Booster(model_str=write(forest)).predict(rows, raw_score=True, num_threads=1)
    np.testing.assert_array_equal(answers(raw_model(forest), rows)[:, 0], native)


def test_averaging_divides_by_the_rounds_kept():
    forest = parse(forest_text("rf")).first_rounds(5)
    rows = adversarial_rows("rf")
    np.testing.assert_allclose(
        answers(to_onnx(forest), rows), booster("rf").predict(rows, num_iteration=5, num_threads=1), rtol=4e-15
    )


def test_graph_is_one_standard_tree_operator_and_valid():
    model = to_onnx(parse(forest_text("multiclass")))
    onnx.checker.check_model(model, full_check=True)
    assert [node.op_type for node in model.graph.node].count("TreeEnsemble") == 1
    assert {opset.domain for opset in model.opset_import} == {"", "ai.onnx.ml"}
    attributes = tree_attributes(parse(forest_text("regression")), np.zeros(0, int), np.zeros(0, int))
    assert "membership_values" not in attributes
