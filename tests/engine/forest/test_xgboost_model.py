import json

import numpy as np
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import BadModel
from engine.forest import ubjson
from engine.forest.xgboost_model import check, load, write
from tests.engine.formats.taking import sentence
from tests.model_zoo import XGBOOST, rows, xgboost_booster, xgboost_bytes


def native(data, table):
    booster = xgboost.Booster(params={"nthread": 1}, model_file=bytearray(data))
    return booster.inplace_predict(table, validate_features=False)


def document(name="xgb_binary"):
    return json.loads(xgboost_bytes(name, "json"))


def read(found):
    return check(json.loads(json.dumps(found)))


@pytest.mark.parametrize("form", ["ubj", "json"])
@pytest.mark.parametrize("name", XGBOOST)
def test_the_clean_file_answers_as_the_original(name, form, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(xgboost_bytes(name, form))
    model = load(path)
    table = rows(XGBOOST[name][1])
    expected = native(xgboost_bytes(name), table)
    found = native(write(model), table)
    if name == "xgb_softmax":  # probabilities instead of a class
        found = found.argmax(axis=1)
    np.testing.assert_array_equal(found, expected)
    (tmp_path / "clean").write_bytes(write(model))
    assert write(load(tmp_path / "clean")) == write(model)


def test_both_forms_are_the_same_model(tmp_path):
    for form in ("ubj", "json"):
        (tmp_path / form).write_bytes(xgboost_bytes("xgb_binary", form))
    assert write(load(tmp_path / "ubj")) == write(load(tmp_path / "json"))


def test_rounds_behind_the_best_one_are_left_out():
    booster = xgboost_booster("xgb_binary")
    found = document()
    found["learner"]["attributes"] = {"best_iteration": "2", "note": "free <text>"}
    model = read(found)
    assert (model.n_rounds, model.n_rounds_in_file, model.best_iteration) == (3, 8, 2)
    table = rows("missing")
    expected = booster.inplace_predict(table, iteration_range=(0, 3), validate_features=False)
    np.testing.assert_array_equal(native(write(model), table), expected)
    found["learner"]["attributes"] = {"best_iteration": "8"}
    with pytest.raises(BadModel, match="best_iteration is 8, the model has 8 rounds"):
        read(found)


def test_base_score_and_names_are_honoured():
    found = document("xgb_regression")
    found["learner"]["learner_model_param"]["base_score"] = "[1E2]"
    found["learner"]["feature_names"] = ["alpha", "beta two", "c", "d", "e"]
    found["learner"]["feature_types"] = ["float"] * 5
    model = read(found)
    assert model.feature_names == ("alpha", "beta two", "c", "d", "e")
    assert native(write(model), rows("plain")).mean() > 50


def _set(path, value):
    def change(found):
        *first, last = path
        for key in first:
            found = found[key]
        found[last] = value

    return change


TREE = ("learner", "gradient_booster", "model", "trees", 0)
MODEL = ("learner", "gradient_booster", "model")
DAMAGE = {
    "no learner": (_set(("learner",), []), "learner"),
    "unknown field": (_set(("learner", "surprise"), {}), "unknown field 'surprise'"),
    "unknown objective": (_set(("learner", "objective", "name"), "reg:odd"), "unknown XGBoost objective 'reg:odd'"),
    "linear booster": (_set(("learner", "gradient_booster", "name"), "gblinear"), "no trees"),
    "child outside": (_set((*TREE, "left_children", 0), 999), "left_children"),
    "circle": (_set((*TREE, "left_children", 1), 0), "circle"),
    "one child": (_set((*TREE, "left_children", 0), -1), "one child"),
    "feature outside": (_set((*TREE, "split_indices", 0), 5), "column outside 0 to 4"),
    "not a number": (_set((*TREE, "split_conditions", 0), "x"), "split_conditions"),
    "infinite": (_set((*TREE, "split_conditions", 0), float("inf")), "not finite"),
    "short list": (_set((*TREE, "default_left"), [0]), "default_left"),
    "nodes missing": (_set((*TREE, "tree_param", "num_nodes"), "3"), "left_children"),
    "vector leaves": (_set((*TREE, "tree_param", "size_leaf_vector"), "3"), "several numbers"),
    "unknown in tree": (_set((*TREE, "code"), "x"), "known fields"),
    "group outside": (_set((*MODEL, "tree_info", 0), 3), "tree_info"),
    "rounds fall": (_set((*MODEL, "iteration_indptr", 1), 99), "iteration_indptr"),
    "no trees": (_set((*MODEL, "trees"), []), "trees"),
    "categories missing": (_set((*TREE, "split_type", 0), 1), "categories_nodes"),
    "base score": (_set(("learner", "learner_model_param", "base_score"), "five"), "base_score"),
    "feature count": (_set(("learner", "learner_model_param", "num_feature"), "0"), "num_feature"),
    "names": (_set(("learner", "feature_names"), ["a", "a", "b", "c", "d"]), "twice"),
    "odd parameter": (_set(("learner", "objective", "reg_loss_param"), {"scale_pos_weight": "1\n{}"}), "plain texts"),
    "no version": (_set(("version",), None), "version"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_named(case):
    change, expected = DAMAGE[case]
    found = document()
    read(found)
    change(found)
    with pytest.raises(BadModel) as caught:
        check(found)
    assert expected in str(caught.value)
    assert len(str(caught.value)) < 400


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_cut_and_changed_files_end_in_a_sentence_or_a_model(data, tmp_path_factory):
    whole = xgboost_bytes(
        data.draw(st.sampled_from(["xgb_binary", "xgb_categorical"])), data.draw(st.sampled_from(["ubj", "json"]))
    )
    damaged = bytearray(whole[: data.draw(st.integers(4, len(whole)), "kept")])
    for position in data.draw(st.lists(st.integers(2, len(damaged) - 1), max_size=4), "changed"):
        damaged[position] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "model"
    path.write_bytes(damaged)
    try:
        model = load(path)
    except BadModel as error:
        sentence(error)
        return
    load_again = path.with_name("again")
    load_again.write_bytes(write(model))
    assert write(load(load_again)) == write(model)


@settings(max_examples=40, deadline=None)
@given(
    document=st.recursive(
        st.text() | st.integers(-(2**62), 2**62),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=20,
    )
)
def test_ubjson_comes_back(document):
    assert ubjson.decode(ubjson.encode(document)) == document


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[" * 100,
        b"[$d#L\x7f\xff\xff\xff\xff\xff\xff\xff",
        b"[$d#L\xff\xff\xff\xff\xff\xff\xff\xff",
        b"[$Z#i\x01",
        b"Si\x05ab",
        b"{i\x01ai\x01i\x01ai\x01}",
        b"Zx",
        b"Si\x02\xff\xff",
        b"?",
    ],
)
def test_hostile_ubjson_is_refused(data):
    with pytest.raises(BadModel, match="UBJSON"):
        ubjson.decode(data)
