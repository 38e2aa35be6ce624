import numpy as np
import pytest

from engine.data.choices import DataChoices
from engine.data.output import propose_output
from engine.errors import Mismatch
from engine.records import Signature, TensorSpec

INPUT = TensorSpec(name="x", dtype="float32", shape=("N", 4))


def model(*outputs, **more):
    specs = tuple(TensorSpec(name=name, dtype=dtype, shape=("N", "C")) for name, dtype in outputs or [("y", "float32")])
    return Signature(inputs=(INPUT,), outputs=specs, **more)


def propose(signature, values=None, **said):
    first = None if values is None else {"y": np.array(values, np.float32)}
    return propose_output(signature, first, DataChoices(**said))


@pytest.mark.parametrize(
    ("task", "values", "kind"),
    [
        ("multiclass", [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]], "probabilities"),
        ("multiclass", [[0.2, 0.3, 0.9], [1.0, 0.0, 0.0]], "raw score"),
        ("multiclass", [[2.0, -3.0, 0.5]], "logits"),
        ("multilabel", [[0.2, 0.3, 0.9], [1.0, 0.0, 0.0]], "probabilities"),
        ("multilabel", [[2.0, -3.0, 0.5]], "logits"),
        ("binary", [[0.25, 0.75]], "probabilities"),
        ("binary", [[0.3], [0.9]], "probabilities"),
        ("binary", [0.3, 0.9], "probabilities"),
        ("binary", [0.3, 1.9], "logits"),
        ("regression", [[12.0]], "value"),
        ("ranking", [12.0], "value"),
        ("embedding", [[0.2, 0.8]], "embedding"),
        ("other", [[[0.2, 0.8]]], "value"),
    ],
)
def test_first_rows_tell_the_kind(task, values, kind):
    found = propose(model(task=task), values)
    assert (found.output_kind, found.score_output, found.task) == (kind, "y", task)


def test_before_the_model_has_run_the_kind_stays_open():
    assert propose(model(task="binary")).output_kind is None


def test_the_file_s_own_word_and_a_choice_win():
    signature = model(task="binary", output_kind="raw score")
    assert propose(signature, [0.1, 0.2]).output_kind == "raw score"
    assert propose(signature, [0.1, 0.2], output_kind="logits").output_kind == "logits"


def test_the_output_with_scores_is_judged():
    signature = model(("label", "int64"), ("hidden", "float32"), ("probabilities", "float32"))
    assert propose(signature).score_output == "probabilities"
    assert propose(signature, output="hidden").score_output == "hidden"
    assert propose(model(("a", "float32"), ("b", "float32"))).score_output == "a"
    assert propose(model(("a", "float32"), ("b", "float32"), score_output="b")).score_output == "b"


@pytest.mark.parametrize(
    ("signature", "values", "said", "match"),
    [
        (model(), None, {"output": "z"}, "no output 'z'; it has y"),
        (model(("label", "int64")), None, {}, r"no output holds scores; the model gives label \(int64\)"),
        (model(task="multiclass"), [[2.0, -3.0]], {"output_kind": "probabilities"}, "go from -3 to 2; choose logits"),
        (model(task="binary"), [1.5], {"output_kind": "probabilities"}, "go from 1.5 to 1.5"),
        (model(task="binary", output_kind="probabilities"), [1.5], {}, "cannot be probabilities"),
        (model(task="multiclass"), [[0.9, 0.8]], {"output_kind": "probabilities"}, "sum to 1.7 … 1.7 instead of 1"),
        (model(task="multiclass"), [[1.0, 2.0]], {"output_kind": "value"}, "cannot be value for a multiclass task"),
        (model(task="binary"), None, {"output_kind": "embedding"}, "cannot be embedding for a binary task"),
        (model(task="multilabel"), [[1.5, 0.2]], {"output_kind": "probabilities"}, "go from 0.2 to 1.5; choose logits"),
        (model(task="multilabel"), [0.2, 0.3], {}, "one number per row; a multilabel task needs one score per class"),
        (model(task="multilabel", classes=("a", "b")), [[0.1, 0.2, 0.3]], {}, "3 scores per row, 2 classes are named"),
        (model(task="multilabel"), [[0.1, 0.2]], {"output_kind": "value"}, "cannot be value for a multilabel task"),
        (model(), [[1.0, 2.0]], {"task": "regression"}, "gives 2 numbers per row; a regression task needs one"),
        (model(), [1.0], {"task": "multiclass"}, "gives one number per row"),
        (model(), [[1.0, 2.0, 3.0]], {"task": "binary"}, "gives 3 scores per row; a binary task needs one or two"),
        (model(), [[[1.0]]], {"task": "binary"}, "gives 1×1 numbers per row"),
        (model(task="multiclass", classes=("a", "b")), [[1.0, 2.0, 3.0]], {}, "3 scores per row, 2 classes are named"),
    ],
)
def test_what_cannot_be_true_is_refused_with_the_values_seen(signature, values, said, match):
    with pytest.raises(Mismatch, match=match):
        propose(signature, values, **said)


def test_half_precision_may_miss_the_sum():
    values = np.full((2, 1000), 0.001, np.float16)
    found = propose_output(model(task="multiclass"), {"y": values}, DataChoices())
    assert found.output_kind == "probabilities"


def test_an_output_of_text_is_no_score():
    with pytest.raises(Mismatch, match="not numbers"):
        propose_output(model(task="binary"), {"y": np.array(["a"])}, DataChoices())
