import numpy as np
import pyarrow as pa
import pytest

from engine.data.choices import DataChoices
from engine.data.multilabel import more_labels, settle
from engine.data.roles import guess_roles, named_columns
from engine.errors import BadData, Mismatch
from engine.records import Signature, TensorSpec

FEATURES = ("f0", "f1")
A, B, C = [0, 1, 1, 0], [1, 0, 1, 0], [0, 0, 0, 1]
ABC = {"labels": ("a", "b", "c")}
EYE = np.eye(3, dtype=int).tolist()
BOTH = [[0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1]]


def model(width=3, classes=None, task=None):
    x = TensorSpec(name="x", dtype="float32", shape=("N", 2))
    y = TensorSpec(name="y", dtype="float32", shape=("N", width))
    return Signature(inputs=(x,), outputs=(y,), task=task, classes=classes, score_output="y")


@pytest.fixture
def settled(store):
    """settled({name: values}, signature, **choices) -> Labels, as binding does it."""

    def call(given, signature=None, **said):
        n = len(next(iter(given.values())))
        table = store(**{name: np.arange(n) / 7 for name in FEATURES}, **given)
        signature, choices = signature or model(), DataChoices(**said)
        named = named_columns(guess_roles(table.profile, signature, choices=choices), choices, signature.task)
        return settle(table, named, signature, choices)

    return call


def plain(**more):
    return {"a": A, "b": B, "c": C, **more}


def test_columns_in_the_order_a_person_gave(settled):
    found = settled(plain(), **ABC)
    assert (found.task, found.classes, found.notes) == ("multilabel", ("a", "b", "c"), ())
    assert found.values.tolist() == BOTH
    assert found.labelled.tolist() == [True] * 4
    turned = settled(plain(), labels=("c", "a", "b"))
    assert turned.values.tolist() == [[row[2], row[0], row[1]] for row in BOTH]


def test_roles_keep_the_order_of_the_file_and_say_so(settled):
    found = settled(plain(), roles=dict.fromkeys("cba", "label"), task="multilabel")
    assert (found.classes, found.values.tolist()) == (("a", "b", "c"), BOTH)
    assert found.notes == ("Label columns in the order of the file, the first for the first score: a, b, c. Is it so?",)


def test_the_classes_of_the_model_decide_the_order(settled):
    known = model(classes=("c", "a", "b"), task="multilabel")
    for said in ({"labels": ("a", "b", "c")}, {}):  # without a word the columns are known by the names of the classes
        found = settled(plain(), known, **said)
        assert (found.classes, found.sources, found.notes) == (("c", "a", "b"), ("c", "a", "b"), ())
        assert found.values.tolist() == [[row[2], row[0], row[1]] for row in BOTH]


def test_a_person_s_classes_decide_the_order(settled):
    found = settled(plain(), **ABC, classes=("b", "c", "a"))
    assert (found.classes, found.sources) == (("b", "c", "a"), ("b", "c", "a"))
    numbered = settled(plain(), model(classes=("0", "1", "2")), **ABC)
    assert numbered.classes == ("a", "b", "c")


def test_an_array_by_position(settled):
    found = settled({"label": BOTH})
    assert (found.task, found.classes, found.values.tolist()) == ("multilabel", ("0", "1", "2"), BOTH)
    assert settled({"label": BOTH}, classes=("p", "q", "r")).classes == ("p", "q", "r")
    assert settled({"tags": BOTH}, label="tags").values.tolist() == BOTH


def test_text_by_name(settled):
    tags = {"tags": ["b", "a", "a|b", "c"]}
    found = settled(tags, label="tags", label_separator="|")
    assert (found.classes, found.values.tolist()) == (("a", "b", "c"), BOTH)
    assert found.notes == ("Labels in sorted order, the first for the first score: a, b, c. Is it so?",)
    turned = settled(tags, model(classes=("c", "b", "a")), label="tags", label_separator="|")
    assert (turned.values.tolist(), turned.notes) == ([row[::-1] for row in BOTH], ())


def test_text_with_numbers_counts_the_scores(settled):
    found = settled({"tags": ["3", "0|3", "1", None]}, model(4), label="tags", label_separator="|", task="multilabel")
    assert (found.classes, found.labelled.tolist()) == (("0", "1", "2", "3"), [True, True, True, False])
    assert found.values[1].tolist() == [1, 0, 0, 1]
    assert found.notes == ("No row of 3 has the label 2: whether it is kept cannot be judged",)


def test_rows_without_any_label_are_unlabelled(settled):
    found = settled({name: [*values, None] for name, values in plain().items()}, **ABC)
    assert found.labelled.tolist() == [True] * 4 + [False]
    assert found.values[-1].tolist() == [-1, -1, -1]


def test_labels_that_never_change_are_said(settled):
    found = settled(plain(c=[0] * 4), **ABC)
    assert found.notes == ("No row of 4 has the label c: whether it is kept cannot be judged",)
    found = settled(plain(c=[1] * 4), **ABC)
    assert found.notes == ("All 4 rows have the label c: it has no ROC AUC",)
    with pytest.raises(BadData, match="each of the labels a, b, c is the same in all 4 rows"):
        settled(plain(a=[0] * 4, b=[1] * 4, c=[0] * 4), **ABC)


@pytest.mark.parametrize(
    ("given", "width", "more", "said", "error", "match"),
    [
        (plain(), 4, {}, ABC, Mismatch, r"3 labels \(a, b, c\), output y gives 4 scores"),
        (plain(), 1, {}, ABC, Mismatch, "output y gives 1 score per row"),
        ({"label": BOTH}, 2, {}, {}, Mismatch, r"3 labels \(0, 1, 2\), output y gives 2 scores"),
        (plain(), 3, {"classes": ("x", "y", "z")}, ABC, Mismatch, "are not the classes x, y, z"),
        (plain(), 3, {"task": "multiclass"}, ABC, Mismatch, "3 label columns are named .* has one"),
        (plain(), 3, {}, {"labels": ("a", "b", "c"), "task": "binary"}, Mismatch, "and a binary task has one"),
        (plain(), 3, {}, {"labels": ("a", "b", "q")}, BadData, "no label column is called 'q'"),
        (plain(), 3, {}, {"roles": {"a": "label", "b": "label"}}, BadData, "choose the task multilabel"),
        (plain(), 3, {}, {"task": "multilabel"}, BadData, "a multilabel task needs a column of 0 and 1 per class"),
        ({"label": BOTH}, 3, {}, {"classes": ("p", "q")}, Mismatch, "3 labels per row, 2 classes are named: p, q"),
        ({"label": BOTH}, 3, {}, {"classes": ("p", "q", "p")}, Mismatch, "name a value twice"),
        ({"label": EYE}, 3, {}, {}, BadData, r"exactly one 1: choose .*label\.argmax\(axis=1\)"),
        ({"label": [[1], [0]]}, 2, {}, {"task": "multilabel"}, BadData, "1 labels; a multilabel task has 2 to 1,000"),
        (
            {"tags": ["a|b", "d"]}, 3, {"classes": ("a", "b", "c")}, {"label": "tags", "label_separator": "|"},
            Mismatch, "column tags holds d, not among the classes a, b, c",
        ),
    ],
)  # fmt: skip
def test_labels_that_do_not_fit(settled, given, width, more, said, error, match):
    with pytest.raises(error, match=match):
        settled(given, model(width, **more), **said)


def test_one_of_each_is_fine_where_it_is_said(settled):
    assert settled({"label": EYE}, task="multilabel").task == "multilabel"


def test_labels_that_no_task_needs_are_said(settled):
    found = settled(plain(), **ABC, task="other")
    assert (found.task, found.values) == ("other", None)
    assert found.notes == ("Columns a, b, c are not used: other needs no label",)


def test_further_rows_in_the_same_terms(store, settled):
    labels = settled(plain(), model(classes=("c", "a", "b")), **ABC)
    values, notes = more_labels(store(b=[1, None], c=[0, None], a=[1, None]), labels)
    assert (values.tolist(), notes) == ([[0, 1, 1], [-1, -1, -1]], [])
    values, notes = more_labels(store(f0=[1.0, 2.0]), labels)
    assert (values.tolist(), len(notes)) == ([[-1, -1, -1]] * 2, 1)
    with pytest.raises(Mismatch, match="the training data lack label columns: b"):
        more_labels(store(a=[0], c=[0]), labels)


def test_further_rows_of_arrays_and_texts(store, settled):
    array = settled({"label": BOTH})
    assert more_labels(store(label=[[1, 1, 1]]), array)[0].tolist() == [[1, 1, 1]]
    with pytest.raises(Mismatch, match="holds 2 labels per row, the evaluation set 3"):
        more_labels(store(label=[[1, 1]]), array)
    texts = settled({"tags": ["b", "a", "a|b", "c"]}, label="tags", label_separator="|")
    values, _ = more_labels(store(tags=pa.array(["c|a", None])), texts)
    assert values.tolist() == [[1, 0, 1], [-1, -1, -1]]
    with pytest.raises(Mismatch, match="column tags holds d"):
        more_labels(store(tags=["d"]), texts)


# ---------------------------------------------------------------- bound
def evaluation(n=600, seed=0, **more):
    rng = np.random.default_rng(seed)
    table = {name: rng.normal(size=n) for name in FEATURES}
    labels = (rng.random((n, 3)) < [0.5, 0.2, 0.02]).astype(int)
    return labels, {**table, **dict(zip("abc", labels.T, strict=True)), **more}


def test_a_set_with_several_labels_is_split_by_the_rarest(bind_columns):
    labels, table = evaluation()
    found = bind_columns(table, model(), **ABC)
    assert (found.info.task, found.info.classes) == ("multilabel", ("a", "b", "c"))
    assert (found.signature.task, found.signature.classes) == ("multilabel", ("a", "b", "c"))
    assert [found.info.roles[name] for name in "abc"] == ["label"] * 3
    assert "Rows are split in proportion to the rarest label that each has" in found.info.notes
    for name, share in (("train", 0.3), ("selection", 0.2), ("certification", 0.5)):
        part = found.split(name).labels
        assert (part.dtype, part.shape) == (np.int8, (found.info.splits[name], 3))
        assert np.array_equal(part, labels[found.rows(name)["row"]])
        assert abs(part[:, 2].sum() - share * labels[:, 2].sum()) <= 1
        assert np.all(np.abs(part.sum(axis=0) - share * labels.sum(axis=0)) < 12)


def test_unlabelled_rows_train_and_are_counted(bind_columns):
    _, table = evaluation()
    for name in "abc":
        table[name] = [None if at < 30 else int(value) for at, value in enumerate(table[name])]
    found = bind_columns(table, model(), **ABC)
    assert found.info.n_unlabelled == 30
    assert (found.split("train").labels < 0).all(axis=1).sum() == 30
    assert any(note.startswith("30 rows without label left out of quality") for note in found.info.notes)


def test_a_split_column_and_further_rows(bind_table, store):
    _, table = evaluation(split=["train"] * 200 + ["val"] * 200 + ["test"] * 200)
    more_truth, more = evaluation(50, seed=1)
    found = bind_table(store(**table).folder, model(), train_table=store(**more).folder, labels=("b", "a", "c"))
    assert found.info.splits["train"] == 250
    assert np.array_equal(found.split("train").labels[200:], more_truth[:, [1, 0, 2]])
    assert not any("rarest" in note for note in found.info.notes)
