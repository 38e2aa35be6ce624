import contextlib
import json
import re
import subprocess
import sys

import lightgbm as lgb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import BadModel
from engine.forest.forest import MISSING_NAN, MISSING_NONE, MISSING_ZERO
from engine.forest.lightgbm_text import load, parse, write
from tests.model_zoo import FORESTS, adversarial_rows, booster, colours_text, forest_text

# "clean" texts must load; a "raw" one may be refused by LightGBM (its free parameter lines), but must not end it.
LOAD_ALL = """
import json, sys, lightgbm as lgb, numpy as np
refusals = () if sys.argv[2] == "clean" else (lgb.basic.LightGBMError, json.JSONDecodeError)
for text in json.load(open(sys.argv[1])):
    try:
        model = lgb.Booster(model_str=text)
    except refusals:
        continue
    rows = np.random.default_rng(0).normal(size=(20, model.num_feature())) * 10
    rows[::3] = np.nan
    model.predict(np.concatenate([rows, np.floor(np.abs(rows))]), num_threads=1)
print("all loaded")
"""


def changed(name, old, new):
    text = forest_text(name)
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize("name", FORESTS)
def test_written_text_predicts_the_same_bits(name):
    again = lgb.Booster(model_str=write(parse(forest_text(name))))
    rows = adversarial_rows(name)
    for raw in (True, False):
        expected = booster(name).predict(rows, raw_score=raw, num_threads=1)
        np.testing.assert_array_equal(again.predict(rows, raw_score=raw, num_threads=1), expected)


@pytest.mark.parametrize("name", FORESTS)
def test_writing_is_stable(name):
    text = write(parse(forest_text(name)))
    assert write(parse(text)) == text


@pytest.mark.parametrize("name", ["binary", "multiclass", "rf", "linear"])
def test_arrays_agree_with_the_native_dump(name):
    forest = parse(forest_text(name))
    dump = booster(name).dump_model()
    assert [tree["num_leaves"] - 1 for tree in dump["tree_info"]] == [tree.n_nodes for tree in forest.trees]
    assert dump["feature_names"] == list(forest.feature_names)
    for tree, info in zip(forest.trees, dump["tree_info"], strict=True):
        waiting = [info["tree_structure"]]
        while waiting:
            node = waiting.pop()
            if "split_index" not in node:
                continue
            i = node["split_index"]
            assert tree.feature[i] == node["split_feature"]
            if node["decision_type"] == "==":
                assert tree.categories(i).tolist() == sorted(map(int, node["threshold"].split("||")))
            else:
                assert tree.threshold[i] == node["threshold"]
                assert tree.default_left[i] == node["default_left"]
            kinds = {"None": MISSING_NONE, "Zero": MISSING_ZERO, "NaN": MISSING_NAN}
            assert tree.missing[i] == kinds[node["missing_type"]]
            for child, side in ((tree.left[i], "left_child"), (tree.right[i], "right_child")):
                below = node[side]
                if "leaf_value" in below:
                    assert tree.leaf_value[~child] == below["leaf_value"]
                waiting.append(below)


def test_header_is_understood():
    assert parse(forest_text("sigmoid2")).objective.sigmoid == 2.0
    assert parse(forest_text("multiclassova")).objective.sigmoid == 1.5
    assert parse(forest_text("multiclass")).n_classes == 3
    assert parse(forest_text("multiclass")).n_rounds == 12
    assert parse(forest_text("rf")).averaged
    assert parse(forest_text("rf")).boosting == "rf"
    assert parse(forest_text("dart")).boosting == "dart"
    assert parse(forest_text("linear")).linear
    assert not parse(forest_text("regression")).linear
    assert parse(forest_text("constant")).trees[0].n_nodes == 0


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("binary", "sigmoid"),
        ("multiclass", "softmax"),
        ("multiclassova", "sigmoid per class"),
        ("regression", "identity"),
        ("poisson", "exp"),
        ("root", "signed square"),
        ("root_l1", "signed square"),
        ("cross_entropy", "sigmoid"),
        ("cross_entropy_lambda", "log1p exp"),
        ("ranking", "identity"),
        ("custom", "unknown"),
    ],
)
def test_link_follows_the_objective(name, link):
    assert parse(forest_text(name)).objective.link == link


def test_category_lists_belong_to_their_column():
    assert parse(colours_text()).categories_by_feature() == {"colour": ("blue", "green", "red")}
    assert parse(forest_text("binary")).categories_by_feature() is None
    lists = '[["a", "b"], ["c"], ["d"]]'
    two_columns = re.sub("pandas_categorical:.*", f"pandas_categorical:{lists}", forest_text("categorical"))
    assert parse(two_columns).categories_by_feature() is None


def test_line_ends_of_windows_are_normalised(tmp_path):
    path = tmp_path / "model.txt"
    for encoding in ("utf-8", "utf-8-sig"):
        path.write_bytes(forest_text("binary").replace("\n", "\r\n").encode(encoding))
        assert write(load(path)) == write(parse(forest_text("binary")))


def test_text_without_tree_sizes_or_last_line_end_is_accepted():
    text = re.sub("tree_sizes=.*\n", "", forest_text("binary")).rstrip("\n")
    assert write(parse(text)) == write(parse(forest_text("binary")))


def test_paths_of_the_training_machine_do_not_survive():
    text = changed("binary", "[data: ]", "[data: /home/alice/secret.csv]")
    assert "secret" not in write(parse(text))
    assert parse(text).parameters["boosting"] == "gbdt"


DAMAGE = {
    "cut_at_60_percent": (lambda: forest_text("binary")[: int(len(forest_text("binary")) * 0.6)], "end of trees"),
    "cut_in_header": (lambda: forest_text("binary")[:200], "no tree"),
    "cut_in_parameters": (lambda: forest_text("binary").split("[num_leaves")[0], "end of parameters"),
    "cut_in_categories": (lambda: colours_text()[:-8], "pandas_categorical"),
    "size_too_large": (lambda: re.sub(r"tree_sizes=\d+", "tree_sizes=99999999", forest_text("binary")), "tree_sizes"),
    "size_negative": (lambda: re.sub(r"tree_sizes=\d+", "tree_sizes=-5", forest_text("binary")), "tree_sizes"),
    "size_missing": (lambda: re.sub(r"tree_sizes=\d+ ", "tree_sizes=", forest_text("binary")), "sizes for"),
    "billion_leaves": (lambda: changed("binary", "num_leaves=9", "num_leaves=1000000000"), "num_leaves"),
    "negative_leaves": (lambda: changed("binary", "num_leaves=9", "num_leaves=-9"), "num_leaves"),
    "leaves_differ": (lambda: changed("binary", "num_leaves=9", "num_leaves=8"), "values, expected"),
    "child_far_away": (lambda: re.sub(r"left_child=-?\d+", "left_child=777", forest_text("binary")), "left_child"),
    "child_is_itself": (lambda: re.sub(r"left_child=-?\d+", "left_child=0", forest_text("binary")), "left_child"),
    "feature_outside": (lambda: re.sub(r"split_feature=\d+", "split_feature=5", forest_text("binary")), "column"),
    "feature_negative": (lambda: re.sub(r"split_feature=\d+", "split_feature=-1", forest_text("binary")), "column"),
    "nul": (lambda: forest_text("binary")[:900] + "\0" + forest_text("binary")[900:], "control character"),
    "lone_return": (lambda: forest_text("binary")[:900] + "\r" + forest_text("binary")[900:], "control character"),
    "word_for_a_number": (lambda: re.sub("leaf_value=[^ ]+", "leaf_value=abc", forest_text("binary")), "numbers"),
    "underscore_number": (lambda: re.sub("leaf_value=[^ ]+", "leaf_value=1_0", forest_text("binary")), "numbers"),
    "nan_threshold": (lambda: re.sub("\nthreshold=[^ ]+", "\nthreshold=nan", forest_text("binary")), "nan"),
    "odd_decision": (lambda: re.sub("decision_type=[0-9]+", "decision_type=77", forest_text("binary")), "decision"),
    "no_leaf_value": (lambda: re.sub("leaf_value=.*\n", "", forest_text("binary")), "leaf_value is missing"),
    "no_num_cat": (lambda: re.sub("num_cat=.*\n", "", forest_text("binary")), "num_cat is missing"),
    "no_num_class": (lambda: changed("binary", "num_class=1\n", ""), "num_class is missing"),
    "no_label_index": (lambda: changed("binary", "label_index=0\n", ""), "label_index is missing"),
    "no_feature_infos": (lambda: re.sub("feature_infos=.*\n", "", forest_text("binary")), "feature_infos"),
    "name_missing": (lambda: changed("binary", " Column_4", ""), "feature_names"),
    "name_twice": (lambda: changed("binary", " Column_4", " Column_0"), "twice"),
    "tree_missing": (lambda: changed("binary", "Tree=3\n", "Tree=4\n"), "Tree=3"),
    "classes_differ": (lambda: changed("multiclass", "num_class=3", "num_class=4"), "num_class"),
    "per_iteration_differs": (lambda: changed("binary", "per_iteration=1", "per_iteration=3"), "per_iteration"),
    "objective_differs": (lambda: changed("multiclass", "multiclass num_class:3", "multiclass num_class:2"), "fit"),
    "class_without_its_tree": (lambda: changed("binary", "objective=binary sigmoid:1", "objective=binary"), "sigmoid"),
    "sigmoid_zero": (lambda: changed("binary", "sigmoid:1", "sigmoid:0"), "above 0"),
    "sets_do_not_rise": (lambda: re.sub("cat_boundaries=0 ", "cat_boundaries=5 ", forest_text("categorical")), "cat"),
    "set_negative": (lambda: re.sub(r"cat_threshold=\d+", "cat_threshold=-1", forest_text("categorical")), "cat"),
    "parameter_without_colon": (lambda: changed("binary", "[num_leaves: 9]", "[num_leaves]"), "parameters"),
    "linear_counts": (lambda: re.sub(r"num_features=\d", "num_features=9", forest_text("linear")), "num_features"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_named(case):
    make, expected = DAMAGE[case]
    text = make()
    assert text not in {forest_text(name) for name in ("binary", "multiclass", "categorical", "linear")}
    text = text if case.startswith(("size", "nul")) else re.sub("tree_sizes=.*\n", "", text)
    with pytest.raises(BadModel, match=f"file is damaged or cut off: .*{re.escape(expected)}"):
        parse(text)


def test_circle_between_two_nodes_is_found():
    text = re.sub("tree_sizes=.*\n", "", forest_text("binary"))
    left = re.search(r"left_child=(.*)\n", text).group(1).split()
    right = re.search(r"right_child=(.*)\n", text).group(1).split()
    node = next(i for i, (a, b) in enumerate(zip(left, right, strict=True)) if int(a) > 0 or int(b) > 0)
    child = int(left[node]) if int(left[node]) > 0 else int(right[node])
    side = left if int(left[child]) < 0 else right
    other = left if int(left[node]) > 0 else right
    side[child], other[node] = str(child), side[child]  # the child now follows itself, its leaf hangs above
    text = re.sub("left_child=.*\n", f"left_child={' '.join(left)}\n", text, count=1)
    text = re.sub("right_child=.*\n", f"right_child={' '.join(right)}\n", text, count=1)
    with pytest.raises(BadModel, match="circle"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "not a LightGBM text"), ("a,b\n1,2\n", "not a LightGBM text"), ("tree\n", "no tree")],
)
def test_what_is_no_model_is_said(text, expected):
    with pytest.raises(BadModel, match=expected):
        parse(text)


def test_other_versions_and_objectives_are_refused_by_name():
    with pytest.raises(BadModel, match="version 'v9'"):
        parse(changed("binary", "version=v4", "version=v9"))
    with pytest.raises(BadModel, match="unknown LightGBM objective 'magic'"):
        parse(changed("binary", "objective=binary sigmoid:1", "objective=magic"))


def test_text_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "model.txt"
    path.write_bytes(forest_text("binary").replace("Column_0", "Gr\u00f6\u00dfe").encode("latin-1"))
    with pytest.raises(BadModel, match="not UTF-8"):
        load(path)


NASTY = ["", "-1", "nan", "1e999", "99999999999", "=", "\n", "0 0", "inf", "Tree=0", "x", "2147483648", "-0", "\u00e9"]
BASES = ["binary", "categorical", "multiclass", "linear", "rf", "constant"]


@st.composite
def mutated(draw):
    text = draw(st.sampled_from([forest_text(name) for name in BASES] + [colours_text()]))
    if draw(st.booleans()):
        text = re.sub("tree_sizes=.*\n", "", text)
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["cut", "flip", "token", "line_gone", "line_twice", "swap_lines"]))
        at = draw(st.integers(0, max(0, len(text) - 1)))
        lines = text.split("\n")
        i, j = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        if kind == "cut":
            text = text[:at]
        elif kind == "flip":
            text = text[:at] + chr(draw(st.integers(0, 255))) + text[at + 1 :]
        elif kind == "token":
            tokens = re.split(r"([ =:,]|\n)", text)
            tokens[draw(st.integers(0, len(tokens) - 1))] = draw(st.sampled_from(NASTY))
            text = "".join(tokens)
        elif kind == "line_gone":
            text = "\n".join(lines[:i] + lines[i + 1 :])
        elif kind == "line_twice":
            text = "\n".join([*lines[:i], lines[i], *lines[i:]])
        else:
            lines[i], lines[j] = lines[j], lines[i]
            text = "\n".join(lines)
    return text


def test_mutated_text_is_refused_or_loads_natively(tmp_path):
    survivors = {}

    @settings(max_examples=400, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(mutated())
    def run(text):
        with contextlib.suppress(BadModel):
            survivors[text] = write(parse(text))

    run()
    assert len(survivors) > 5
    for name, texts in (("clean", list(survivors.values())), ("raw", list(survivors))):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(texts))
        done = subprocess.run([sys.executable, "-c", LOAD_ALL, path, name], capture_output=True, text=True, check=False)
        assert "all loaded" in done.stdout, f"{name}: exit {done.returncode}: {done.stderr[-600:]}"
