import json

import numpy as np
import pandas as pd
import pytest

from engine.data.bind import bind
from engine.errors import BadData, Mismatch
from engine.records import Signature, TensorSpec

FEATURES = ["f0", "f1", "f2", "f3"]
SPLITS = ("train", "calibration", "selection", "certification")


def random_table(n=400, seed=0, **more):
    random = np.random.default_rng(seed)
    return {**{name: random.normal(size=n) for name in FEATURES}, "label": np.arange(n) % 2, **more}


def test_the_folder_holds_what_the_design_says(bind_columns, net):
    table = random_table(city=["x", "y", "z", None] * 100, id=[f"r{at}" for at in range(400)], weight=np.ones(400))
    found = bind_columns(table, net())
    assert found.info.splits == {"train": 120, "calibration": 120, "selection": 80, "certification": 200}
    for name in SPLITS:
        split, rows = found.split(name), found.rows(name)
        at = rows["row"].to_numpy()
        assert (np.diff(at) > 0).all()
        wanted = np.column_stack([table[f][at] for f in FEATURES]).astype(np.float32)
        assert split.inputs["x"].dtype == np.float32
        assert np.array_equal(split.inputs["x"], wanted)
        assert np.array_equal(split.labels, table["label"][at])
        assert list(rows.columns) == ["row", "id", "weight", "slice:city"]
        assert rows["id"].tolist() == [f"r{a}" for a in at]
        assert rows["slice:city"].tolist() == [table["city"][a] or "(missing)" for a in at]
    assert isinstance(found.split("selection").inputs["x"], np.memmap)
    assert found.signature.inputs[0].columns == tuple(FEATURES)
    assert (found.signature.task, found.signature.classes, found.signature.score_output) == ("binary", ("0", "1"), "y")
    assert json.loads((found.folder / "info.json").read_text()) == found.info.model_dump(mode="json")
    assert found.info.reading == {"format": "parquet"}


def test_splits_are_disjoint_complete_and_stratified(bind_columns, net):
    found = bind_columns(random_table(1000), net())
    parts = [set(found.rows(name)["row"]) for name in ("train", "selection", "certification")]
    assert set.union(*parts) == set(range(1000))
    assert sum(map(len, parts)) == 1000
    assert set(found.rows("calibration")["row"]) <= parts[0]
    for name in ("train", "selection", "certification"):
        assert abs(found.split(name).labels.mean() - 0.5) < 0.005


def test_another_order_of_the_file_gives_the_same_sets(bind_columns, net):
    table = random_table(300)
    turned = {name: values[::-1] for name, values in table.items()}
    one, other = bind_columns(table, net()), bind_columns(turned, net())
    for name in SPLITS:
        assert sorted(map(tuple, one.split(name).inputs["x"])) == sorted(map(tuple, other.split(name).inputs["x"]))


def test_the_same_request_writes_the_same_bytes(bind_columns, net):
    one, other = (bind_columns(random_table(), net()) for _ in range(2))
    files = sorted(path.relative_to(one.folder) for path in one.folder.rglob("*") if path.is_file())
    assert len(files) == 4 * 4 + 1
    assert all((one.folder / path).read_bytes() == (other.folder / path).read_bytes() for path in files)
    assert (
        bind_columns(random_table(), net(), seed=1).rows("train")["row"].tolist() != one.rows("train")["row"].tolist()
    )


def test_a_batch_fixed_at_one_is_evaluated_on_all_rows(public_cases, bind_file):
    """P01: the rows are covered one by one; nothing here depends on the batch axis."""
    x = TensorSpec(name="x", dtype="float32", shape=(1, 4))
    signature = Signature(inputs=(x,), outputs=(TensorSpec(name="y", dtype="float32", shape=(1, 2)),))
    found = bind_file(public_cases / "P01" / "eval.csv", signature)
    assert found.signature.fixed_batch == 1
    assert found.info.n_rows == 200
    assert sum(found.info.splits[name] for name in ("train", "selection", "certification")) == 200


def p04():
    ids, dense = (
        TensorSpec(name="ids", dtype="int64", shape=("N",)),
        TensorSpec(name="dense", dtype="float32", shape=("N", 2)),
    )
    return Signature(inputs=(ids, dense), outputs=(TensorSpec(name="y", dtype="float32", shape=("N", 2)),))


def test_p04_a_fraction_for_a_whole_number_is_a_row_error(public_cases, bind_file):
    with pytest.raises(BadData, match=r"row 4, column ids: 4\.5 is not a whole number; the input needs int64"):
        bind_file(public_cases / "P04" / "eval_one_fraction.csv", p04())


def test_p04_safe_casts_are_done_and_listed(public_cases, read_text, bind_table):
    rows = (public_cases / "P04" / "eval_one_fraction.csv").read_text().replace("4.5", "4.0").splitlines()
    folder, _ = read_text("\n".join(rows[:1] + rows[1:] * 5) + "\n")
    found = bind_table(folder, p04())
    split = found.split("selection")
    assert (split.inputs["ids"].dtype, split.inputs["ids"].ndim) == (np.int64, 1)
    assert (split.inputs["dense"].dtype, split.inputs["dense"].shape[1]) == (np.float32, 2)
    assert set(found.split("train").inputs["ids"]) <= {0, 3, 9, 4}
    assert "Cast float64 to int64: ids" in found.info.notes
    assert "Cast float64 to float32: d0, d1" in found.info.notes


def test_p05_the_model_s_class_names_need_no_question(public_cases, bind_file):
    x = TensorSpec(name="X", dtype="float32", shape=("N", 4))
    outputs = (
        TensorSpec(name="label", dtype="string", shape=("N",)),
        TensorSpec(name="p", dtype="float32", shape=("N", 2)),
    )
    signature = Signature(inputs=(x,), outputs=outputs, classes=("no", "yes"), score_output="p")
    path = public_cases / "P05" / "eval.csv"
    found = bind_file(path, signature)
    assert found.info.classes == ("no", "yes")
    assert not any("sorted order" in note for note in found.info.notes)
    assert found.all_labels().sum() == (pd.read_csv(path)["label"] == "yes").sum()


def test_p11_codes_come_from_the_stored_list(public_cases, bind_file, booster):
    signature = booster(["a", "b", "c", "d", "colour"], categories={"colour": ("blue", "green", "red")})
    path = public_cases / "P11" / "eval.csv"
    found = bind_file(path, signature)
    frame = pd.read_csv(path).iloc[found.rows("certification")["row"]]
    codes = found.split("certification").inputs["features"][:, 4]
    assert [("blue", "green", "red")[int(code)] for code in codes] == frame["colour"].tolist()
    unknown = bind_file(public_cases / "P11" / "eval_unknown.csv", signature)
    assert np.isnan(unknown.split("train").inputs["features"][:, 4]).all()
    assert any("200 of 200 values are not among the model's categories" in note for note in unknown.info.notes)


def test_p12_columns_are_matched_by_name(public_cases, bind_file, booster):
    path = public_cases / "P12" / "eval.csv"
    found = bind_file(path, booster(list("abcd")))
    frame = pd.read_csv(path).iloc[found.rows("selection")["row"]]
    assert np.array_equal(found.split("selection").inputs["features"], frame[list("abcd")].to_numpy())
    with pytest.raises(Mismatch, match=r"1 of them are not in the file: e\. Columns the model does not know: d"):
        bind_file(path, booster(list("abce")))


def test_p13_both_encodings_give_the_same_set(public_cases, bind_file, net):
    one, other = (bind_file(public_cases / "P13" / name, net()) for name in ("latin1.csv", "bom.csv"))
    assert one.info.roles["größe"] == "label"
    assert one.info.classes == other.info.classes == ("groß", "klein")
    for name in SPLITS:
        assert np.array_equal(one.split(name).inputs["x"], other.split(name).inputs["x"])
        assert np.array_equal(one.split(name).labels, other.split(name).labels)
    assert one.info.reading["encoding"] == "latin-1"
    assert one.info.reading["separator"] == ";"


def test_p14_the_label_na_is_a_class(public_cases, bind_file, net):
    found = bind_file(public_cases / "P14" / "eval.csv", net())
    assert (found.info.classes, found.info.n_rows, found.info.n_unlabelled) == (("EU", "NA"), 200, 0)
    assert sorted(np.unique(found.all_labels())) == [0, 1]
    assert len(found.all_labels()) == 200


def test_p15_the_row_number_is_no_feature(public_cases, bind_file, booster):
    path, names = public_cases / "P15" / "eval.csv", [f"Column_{at}" for at in range(4)]
    found = bind_file(path, booster(names))
    assert found.info.roles["Unnamed: 0"] == "ignored"
    assert "First column looks like a row number, ignored" in found.info.notes
    assert found.signature.inputs[0].columns == tuple(names)
    undone = bind_file(path, booster(names), roles={"Unnamed: 0": "id"})
    assert "First column looks like a row number, ignored" not in undone.info.notes
    assert undone.rows("selection")["id"].tolist() == [str(row) for row in undone.rows("selection")["row"]]


def test_p17_rows_without_label_are_counted_and_not_judged(public_cases, bind_file, net):
    found = bind_file(public_cases / "P17" / "eval.csv", net())
    assert (found.info.n_rows, found.info.n_unlabelled) == (200, 20)
    assert any(note.startswith("20 rows without label left out") for note in found.info.notes)
    assert (found.all_labels() >= 0).sum() == 180
    for name in ("selection", "certification"):
        assert (found.split(name).labels >= 0).all()
    assert (found.split("train").labels == -1).sum() == 20


def test_p18_slices_are_listed_with_their_rows(public_cases, bind_file, net):
    found = bind_file(public_cases / "P18" / "eval.csv", net())
    counts = {part.value: part.n_rows for part in found.info.slices}
    assert counts["tiny"] == 5
    assert sum(counts.values()) == 200
    assert {part.column for part in found.info.slices} == {"region"}


def test_p21_images_by_name(public_cases, bind_file):
    x = TensorSpec(name="x", dtype="float32", shape=("N", 3, 64, 64))
    signature = Signature(inputs=(x,), outputs=(TensorSpec(name="y", dtype="float32", shape=("N", 64)),))
    path = public_cases / "P21" / "eval.npz"
    found = bind_file(path, signature)
    images = np.load(path)["x"][found.rows("selection")["row"]]
    assert np.array_equal(found.split("selection").inputs["x"], images)
    assert (found.info.task, len(found.info.classes)) == ("multiclass", 64)


def test_text_inputs_are_as_wide_as_the_longest_text(bind_columns):
    city = TensorSpec(name="city", dtype="string", shape=("N",))
    signature = Signature(inputs=(city,), outputs=(TensorSpec(name="y", dtype="float32", shape=("N", 2)),))
    values = [f"town {at}" for at in range(99)] + ["x" * 50]
    found = bind_columns({"city": values, "label": [0, 1] * 50}, signature)
    for name in SPLITS:
        split = found.split(name)
        assert split.inputs["city"].dtype == "<U50"
        assert split.inputs["city"].tolist() == [values[row] for row in found.rows(name)["row"]]


def test_a_task_without_label_needs_none(bind_columns, net):
    table = random_table()
    del table["label"]
    with pytest.raises(BadData, match="no label column was found"):
        bind_columns(table, net())
    found = bind_columns(table, net(), task="embedding")
    assert (found.info.task, found.info.classes, found.info.n_unlabelled) == ("embedding", None, 0)
    assert found.split("selection").labels is None
    assert not (found.folder / "selection" / "labels.npy").exists()
    assert found.info.splits["certification"] == 200


def test_numbers_to_be_met_keep_their_fraction(bind_columns, net):
    table = random_table(label=np.linspace(0, 10, 400))
    found = bind_columns(table, net(n_outputs=1))
    assert found.info.task == "regression"
    assert found.split("selection").labels.dtype == np.float64
    assert np.array_equal(found.split("selection").labels, table["label"][found.rows("selection")["row"]])
    means = [found.split(name).labels.mean() for name in ("train", "selection", "certification")]
    assert np.allclose(means, 5, atol=0.3)


def test_groups_stay_on_one_side(bind_columns, net):
    table = random_table(user_id=[f"u{at // 8}" for at in range(400)])
    found = bind_columns(table, net())
    sides = [set(found.rows(name)["group"]) for name in ("train", "selection", "certification")]
    assert sum(map(len, sides)) == len(set.union(*sides)) == 50


def test_ranking_needs_a_group_for_every_row(bind_columns, net):
    signature = net(n_outputs=1, task="ranking")
    with pytest.raises(BadData, match="ranking task needs a group column"):
        bind_columns(random_table(), signature)
    groups = ["q1", None] * 200
    with pytest.raises(BadData, match=r"group column qid is empty in 200 rows \(first: row 2\)"):
        bind_columns(random_table(qid=groups), signature)
    found = bind_columns(random_table(qid=[at // 10 for at in range(400)]), signature)
    assert found.split("selection").labels.dtype == np.float64


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf"), None])
def test_weights_are_numbers_from_zero(bind_columns, net, bad):
    weights = [1.0] * 399 + [bad]
    with pytest.raises(BadData, match=r"row 400, weight column weight: .* it needs 0 or more"):
        bind_columns(random_table(weight=weights), net())


def test_the_split_column_is_obeyed(bind_columns, net):
    split = ["train"] * 100 + ["val"] * 100 + ["test"] * 200
    found = bind_columns(random_table(split=split), net())
    assert found.info.splits == {"train": 100, "calibration": 100, "selection": 100, "certification": 200}
    assert found.rows("selection")["row"].tolist() == list(range(100, 200))
    with pytest.raises(BadData, match="split column fold holds int64"):
        bind_columns(random_table(fold=np.arange(400)), net(), split_column="fold")


def test_a_split_without_rows_is_empty_and_typed(bind_columns, net):
    found = bind_columns(random_table(split=["val"] * 200 + ["test"] * 200), net())
    assert found.info.splits == {"selection": 200, "certification": 200}
    split = found.split("train")
    assert (split.n_rows, split.inputs["x"].shape, split.inputs["x"].dtype) == (0, (0, 4), np.float32)
    assert split.labels.shape == (0,)
    assert len(found.rows("train")) == 0


def test_slices_of_numbers_use_the_quarters_of_train(bind_columns, net):
    values = np.concatenate([np.arange(100) / 2, np.full(300, 1000.5)])
    split = ["train"] * 100 + ["val"] * 100 + ["test"] * 200
    table = random_table(age=values, split=split)
    found = bind_columns(table, net(), slices=("age", "f0"), feature_order=tuple(FEATURES))
    names = {part.value for part in found.info.slices if part.column == "age"}
    assert names == {"up to 12.38", "12.38 to 24.75", "24.75 to 37.12", "above 37.12"}
    assert set(found.rows("selection")["slice:age"]) == {"above 37.12"}
    assert found.info.roles["f0"] == "feature"
    assert len({part.value for part in found.info.slices if part.column == "f0"}) == 4


def test_more_rows_than_a_table_has_columns_for(bind_columns, net):
    with pytest.raises(Mismatch, match="takes 5 columns, the file has 4 features"):
        bind_columns(random_table(), net(5))


def test_too_few_rows_to_split(bind_columns, net):
    with pytest.raises(BadData, match="of 2 rows none is left to compare variants on"):
        bind_columns(random_table(2), net())


def test_nothing_is_written_before_everything_was_checked(store, net, tmp_path, talk):
    folder = store(**random_table(city=["x"] * 400)).folder
    spec = net().inputs[0].model_copy(update={"columns": ("f0", "f1", "f2", "city")})
    signature = net().model_copy(update={"inputs": (spec,)}).model_dump(mode="json")
    request = {"table": str(folder), "signature": signature, "choices": {}, "seed": 0, "out": str(tmp_path)}
    with pytest.raises(Mismatch, match="row 1, column city: 'x' is text"):
        bind(request, talk)
    assert list(tmp_path.iterdir()) == []


def test_progress_goes_from_check_to_writing(store, net, tmp_path, talk):
    folder = store(**random_table()).folder
    signature = net().model_dump(mode="json")
    bind({"table": str(folder), "signature": signature, "choices": {}, "seed": 0, "out": str(tmp_path)}, talk)
    steps = [message["progress"] for message in talk.messages]
    assert steps == sorted(steps)
    assert steps[0] > 0
