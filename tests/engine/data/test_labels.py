import numpy as np
import pyarrow as pa
import pytest

from engine.data.choices import DataChoices
from engine.data.label_values import MOST_CLASSES, label_values
from engine.data.labels import encode_more, score_width, settle_labels
from engine.errors import BadData, Mismatch
from engine.records import Signature, TensorSpec


def model(*shape, task=None, classes=None):
    outputs = (TensorSpec(name="y", dtype="float32", shape=shape),)
    x = TensorSpec(name="x", dtype="float32", shape=("N", 4))
    return Signature(inputs=(x,), outputs=outputs, task=task, classes=classes, score_output="y")


@pytest.fixture
def settle(store):
    def call(values, signature, **said):
        return settle_labels(label_values(store(label=values), "label"), signature, DataChoices(**said))

    return call


TWO, ONE, TEN, OPEN = ("N", 2), ("N",), ("N", 10), ("N", "C")


@pytest.mark.parametrize(
    ("shape", "width"), [(("N",), 1), (("N", 1), 1), (("N", 3), 3), (("N", "C"), None), (("N", 3, 2), None)]
)
def test_width_of_the_judged_output(shape, width):
    assert score_width(model(*shape)) == width


@pytest.mark.parametrize(
    ("values", "shape", "task", "classes", "codes"),
    [
        ([0, 1, 1], TWO, "binary", ("0", "1"), [0, 1, 1]),
        ([0.0, 1.0, None], TWO, "binary", ("0", "1"), [0, 1, -1]),
        ([0, 1, 0], ONE, "binary", ("0", "1"), [0, 1, 0]),
        (["NA", "EU", "NA"], TWO, "binary", ("EU", "NA"), [1, 0, 1]),
        ([True, False, None], TWO, "binary", ("False", "True"), [1, 0, -1]),
        ([-1, 1, 1], ONE, "binary", ("-1", "1"), [0, 1, 1]),
        ([7, 3, 3], TEN, "multiclass", tuple("0123456789"), [7, 3, 3]),
        ([2, 1, 10], ("N", 3), "multiclass", ("1", "2", "10"), [1, 0, 2]),
        (["b", "a", "c"], OPEN, "multiclass", ("a", "b", "c"), [1, 0, 2]),
        ([2, 0, 1], OPEN, "multiclass", ("0", "1", "2"), [2, 0, 1]),
    ],
)
def test_classes_in_the_order_of_the_scores(settle, values, shape, task, classes, codes):
    found = settle(values, model(*shape))
    assert (found.task, found.classes, found.values.tolist()) == (task, classes, codes)
    assert found.values.dtype == np.int64


@pytest.mark.parametrize(
    ("values", "shape"), [([0.5, 1.5, None], ONE), ([1, 2, 3], ONE), ([0.5, 1.5, 2.5], OPEN), ([3, 9, 27], OPEN)]
)
def test_numbers_to_be_met(settle, values, shape):
    found = settle(values, model(*shape))
    assert (found.task, found.classes) == ("regression", None)
    assert np.array_equal(found.values, np.array(values, float), equal_nan=True)
    assert found.labelled.tolist() == [value is not None for value in values]


def test_p05_classes_of_the_model_decide(settle):
    found = settle(["yes", "no", "yes"], model(*TWO, classes=("no", "yes")))
    assert (found.classes, found.values.tolist(), found.notes) == (("no", "yes"), [1, 0, 1], ())
    turned = settle(["yes", "no", "yes"], model(*TWO, classes=("yes", "no")))
    assert turned.values.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("values", "classes"), [([0, 1], ("0.0", "1.0")), (["0", "1"], ("0", "1")), ([False, True], ("0", "1"))]
)
def test_a_class_is_the_same_however_it_is_written(settle, values, classes):
    assert settle(values, model(*TWO, classes=classes)).values.tolist() == [0, 1]


def test_text_labels_for_numbered_classes_are_proposed_in_sorted_order(settle):
    found = settle(["yes", "no"], model(*ONE, task="binary", classes=("0", "1")))
    assert found.classes == ("no", "yes")
    assert found.notes == ("Classes in sorted order, the first for the first score: no, yes. Is it so?",)


def test_a_person_names_the_classes(settle):
    found = settle(["yes", "no"], model(*TWO), classes=("yes", "no"))
    assert (found.classes, found.values.tolist(), found.notes) == (("yes", "no"), [0, 1], ())
    three = settle(["a", "b"], model("N", 3), classes=("c", "b", "a"))
    assert three.values.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("values", "shape", "more", "said", "error", "match"),
    [
        (["a", "b", "c"], TWO, {}, {}, Mismatch, r"3 different values \(a, b, c\), the model gives 2 scores"),
        (["a", "b"], ("N", 3), {}, {}, Mismatch, "2 different values .* gives 3 scores"),
        ([0, 12], TEN, {}, {}, Mismatch, "2 different values"),
        (["a", "b"], TWO, {"classes": ("x", "y")}, {}, Mismatch, "a, b are not among the model's classes x, y"),
        (["a", "b"], TWO, {}, {"classes": ("a", "c")}, Mismatch, "holds b, not among the classes a, c"),
        (["a", "b"], TWO, {}, {"classes": ("a", "b", "c")}, Mismatch, "3 classes are named"),
        (["a", "b"], TWO, {}, {"classes": ("a", "a")}, Mismatch, "twice"),
        (["a", "a"], TWO, {}, {}, BadData, r"all labels are 'a' \(2 rows\); quality cannot be judged"),
        ([1, 1, None], ONE, {"task": "binary"}, {}, BadData, r"all labels are '1' \(2 rows\)"),
        ([0.5, 1], TWO, {}, {}, Mismatch, r"numbers such as 0\.5; a binary task .*--task regression"),
        (["a", "b", "c"], ONE, {}, {}, Mismatch, r"holds text \(a, b, c\); a regression task needs numbers"),
        ([0, 1], ("N", 3), {}, {"task": "binary"}, Mismatch, "needs one or two scores per row; output y gives 3"),
        ([0, 1], ONE, {}, {"task": "multiclass"}, Mismatch, "one score per class; output y gives one per row"),
        ([0.5, 1], ("N", 3), {}, {"task": "regression"}, Mismatch, "needs one number per row; .* gives 3"),
        ([0.5, float("inf")], ONE, {}, {}, BadData, "row 2, column label: the label is infinite"),
    ],
)
def test_labels_that_do_not_fit(settle, values, shape, more, said, error, match):
    with pytest.raises(error, match=match):
        settle(values, model(*shape, **more), **said)


def test_no_label_is_an_answer_only_where_none_is_needed():
    with pytest.raises(BadData, match="--task other"):
        settle_labels(None, model(*TWO), DataChoices())
    with pytest.raises(BadData, match="a regression task needs one"):
        settle_labels(None, model(*ONE, task="regression"), DataChoices())
    found = settle_labels(None, model(*TWO), DataChoices(task="other"))
    assert (found.task, found.values, found.labelled) == ("other", None, None)


def test_a_label_that_is_not_used_is_said(settle):
    found = settle([0, 1], model(*TWO), task="embedding")
    assert found.values is None
    assert "not used as a label" in found.notes[0]


def test_an_empty_label_column_is_refused(store):
    with pytest.raises(BadData, match="column label has no label in any of 2 rows"):
        label_values(store(label=pa.array([None, None], pa.float64())), "label")
    with pytest.raises(BadData, match=r"holds an array of shape \(2,\) per row"):
        label_values(store(label=[[1, 2], [3, 4]]), "label")


def test_too_many_texts_are_no_classes(store):
    with pytest.raises(BadData, match=f"{MOST_CLASSES + 1:,} different texts"):
        label_values(store(label=[str(at) for at in range(MOST_CLASSES + 1)]), "label")


@pytest.fixture
def csv_label(read_text):
    from engine.data.table import open_table

    def call(*cells):
        folder, _ = read_text("a,label\n" + "".join(f"1,{cell}\n" for cell in cells))
        return label_values(open_table(folder), "label")

    return call


def test_a_word_among_numbers_is_a_class_where_the_model_has_one_more(csv_label):
    found = settle_labels(csv_label("0", "1", "NA"), model("N", 3), DataChoices())
    assert (found.classes, found.values.tolist()) == (("0", "1", "NA"), [0, 1, 2])


def test_a_word_among_numbers_is_no_label_where_no_class_is_left(csv_label):
    found = settle_labels(csv_label("0", "1", "NA", "1"), model(*TWO), DataChoices())
    assert (found.classes, found.values.tolist()) == (("0", "1"), [0, 1, -1, 1])
    assert found.notes == ("Column label: 1 cells NA counted as without label; no class has that name",)
    two = settle_labels(csv_label("0", "1", "NA"), model(*ONE), DataChoices())
    assert (two.task, two.values.tolist()) == ("binary", [0, 1, -1])
    value = settle_labels(csv_label("0.5", "NA"), model(*ONE), DataChoices())
    assert np.array_equal(value.values, [0.5, np.nan], equal_nan=True)
    assert value.notes == ("Column label: NA counted as without label",)


def test_a_word_that_is_a_class_of_the_model_stays(csv_label):
    found = settle_labels(csv_label("1", "2", "None"), model("N", 3, classes=("None", "1", "2")), DataChoices())
    assert found.values.tolist() == [1, 2, 0]


def test_further_rows_in_the_same_terms(store, settle):
    labels = settle(["yes", "no"], model(*TWO))
    more = label_values(store(label=["no", None, "yes"]), "label")
    assert encode_more(more, labels).tolist() == [0, -1, 1]
    with pytest.raises(Mismatch, match="holds perhaps, not among the classes no, yes"):
        encode_more(label_values(store(label=["perhaps"]), "label"), labels)
    numbers = settle([0.5, 1.5], model(*ONE))
    assert encode_more(label_values(store(label=[2, None]), "label"), numbers)[0] == 2.0
