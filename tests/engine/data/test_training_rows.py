import numpy as np
import pytest

from engine.errors import BadData, Mismatch

FEATURES = ["f0", "f1", "f2", "f3"]


def rows(n, seed, **more):
    random = np.random.default_rng(seed)
    return {**{name: random.normal(size=n) for name in FEATURES}, "label": np.arange(n) % 2, **more}


@pytest.fixture
def bind_both(store, bind_table, net):
    def call(table, more, signature=None, **choices):
        return bind_table(store(**table).folder, signature or net(), train_table=store(**more).folder, **choices)

    return call


def test_further_rows_train_and_calibrate_only(bind_both):
    table, more = rows(200, 0), rows(3000, 1, extra=np.zeros(3000))
    found = bind_both(table, more)
    assert found.info.splits == {"train": 3060, "calibration": 2000, "selection": 40, "certification": 100}
    assert found.info.n_rows == 200
    train, at = found.split("train"), found.rows("train")["row"].to_numpy()
    wanted = np.column_stack([more[name] for name in FEATURES]).astype(np.float32)
    assert np.array_equal(train.inputs["x"][60:], wanted)
    assert np.array_equal(train.labels[60:], more["label"])
    assert at[60:].tolist() == list(range(200, 3200))
    assert found.rows("selection")["row"].max() < 200
    assert "Training data: 3,000 rows for levers that learn" in found.info.notes


def test_rows_equal_to_evaluation_rows_are_refused_with_their_number(bind_both):
    table, more = rows(200, 0), rows(300, 1)
    for name in FEATURES:
        more[name][7:207] = table[name]
    with pytest.raises(BadData, match=r"leakage: 140 of 300 training rows have the same inputs .*\(first: row \d+\)"):
        bind_both(table, more)


def test_equality_is_that_of_the_model_s_inputs_not_of_the_file(bind_both):
    table, more = rows(200, 0), rows(300, 1)
    for name in FEATURES:
        more[name][:200] = np.round(table[name], 12)
    with pytest.raises(BadData, match="leakage: 140 of 300"):
        bind_both(table, more)


def test_rows_equal_to_train_rows_are_fine(bind_both):
    table = rows(200, 0, split=["train"] * 100 + ["val"] * 100)
    more = {name: values[:100] for name, values in table.items() if name != "split"}
    assert bind_both(table, more).info.splits["train"] == 200


def test_shared_groups_are_refused(bind_both):
    table = rows(200, 0, user_id=[f"u{at // 4}" for at in range(200)])
    with pytest.raises(BadData, match="training rows belong to a group of the evaluation rows"):
        bind_both(table, rows(40, 1, user_id=[f"u{at}" for at in range(40)]))
    assert bind_both(table, rows(40, 1, user_id=[f"v{at}" for at in range(40)])).info.splits["train"] > 40


def test_where_inputs_repeat_ids_tell(bind_both, net):
    table = {"f0": [0.0, 1.0] * 100, "label": [0, 1] * 100, "id": [f"r{at}" for at in range(200)]}
    more = {"f0": [0.0, 1.0] * 10, "label": [0, 1] * 10, "id": [f"n{at}" for at in range(20)]}
    assert bind_both(table, more, net(1)).info.splits["train"] == 80
    with pytest.raises(BadData, match="have the id of an evaluation row"):
        bind_both(table, more | {"id": [f"r{at}" for at in range(20)]}, net(1))
    del more["id"]
    notes = bind_both(table, more, net(1)).info.notes
    assert any("overlap could not be checked" in note for note in notes)


def test_labels_may_be_absent_but_not_unknown(bind_both):
    table, more = rows(200, 0, label=["no", "yes"] * 100), rows(50, 1, label=["yes", "no"] * 25)
    assert bind_both(table, more).split("train").labels[60:].tolist() == [1, 0] * 25
    del more["label"]
    found = bind_both(table, more)
    assert (found.split("train").labels[60:] == -1).all()
    assert any("without the label column label" in note for note in found.info.notes)
    with pytest.raises(Mismatch, match="holds perhaps, not among the classes no, yes"):
        bind_both(table, more | {"label": ["perhaps"] * 50})


def test_missing_columns_are_named(bind_both):
    more = rows(50, 1)
    del more["f2"]
    with pytest.raises(Mismatch, match="the training data lack columns of the model's inputs: f2"):
        bind_both(rows(200, 0), more)


def test_numbers_as_labels(bind_both, net):
    table, more = rows(200, 0, label=np.arange(200) / 3), rows(50, 1, label=np.arange(50) / 7)
    found = bind_both(table, more, net(n_outputs=1))
    assert np.array_equal(found.split("train").labels[60:], more["label"])


def test_text_inputs_are_as_wide_as_in_either_file(bind_both):
    from engine.records import Signature, TensorSpec

    city = TensorSpec(name="city", dtype="string", shape=("N",))
    signature = Signature(inputs=(city,), outputs=(TensorSpec(name="y", dtype="float32", shape=("N", 2)),))
    table = {"city": [f"t{at}" for at in range(100)], "label": [0, 1] * 50}
    more = {"city": ["a much longer name", "b"], "label": [0, 1]}
    found = bind_both(table, more, signature)
    assert found.split("train").inputs["city"][-2:].tolist() == ["a much longer name", "b"]


def test_slices_ids_and_weights_belong_to_the_evaluation_file(bind_both):
    table = rows(200, 0, city=["x", "y"] * 100, id=np.arange(200), weight=np.ones(200))
    found = bind_both(table, rows(5, 1))
    train = found.rows("train")
    assert train["id"].isna().sum() == train["slice:city"].isna().sum() == train["weight"].isna().sum() == 5
    assert found.rows("selection").notna().all().all()
