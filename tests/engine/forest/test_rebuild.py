from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.forest.forest import PLAIN
from engine.forest.lightgbm_text import parse, write
from engine.forest.rebuild import CUT, KEEP, LEFT, RIGHT, node_sums, rebuild
from engine.forest.routes import leaf_routes, margins
from tests.engine.forest.walking import value_of
from tests.model_zoo import adversarial_rows, forest_text

SAID = {CUT: "cut", LEFT: "left", RIGHT: "right"}


@pytest.mark.parametrize("name", ["binary", "categorical", "zero_as_missing", "no_missing"])
def test_the_walk_of_the_tests_is_lightgbms_own(name):
    forest = parse(forest_text(name))
    rows = adversarial_rows(name)[::7]
    routes = leaf_routes(forest, rows)
    for i in (0, 5):
        tree = forest.trees[i]
        expected = [value_of(tree, row) for row in rows]
        np.testing.assert_array_equal(tree.leaf_value[routes[:, i]], expected)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_rebuilt_tree_answers_as_the_walk_with_its_nodes_taken_out(data):
    name = data.draw(st.sampled_from(["binary", "categorical", "zero_as_missing"]))
    forest = parse(forest_text(name))
    tree = forest.trees[data.draw(st.integers(0, 11))]
    action = np.array(data.draw(st.lists(st.sampled_from([KEEP, CUT, LEFT, RIGHT]), min_size=8, max_size=8)))
    value = np.arange(8) + 0.5
    smaller = rebuild(tree, action, value)
    alone = replace(forest, trees=(smaller,), objective=PLAIN)
    rows = adversarial_rows(name)[::23]
    again = parse(write(alone)).trees[0]  # the reader checks what the native library relies on
    instead = {node: SAID[what] for node, what in enumerate(action.tolist()) if what != KEEP}
    found = again.leaf_value[leaf_routes(alone, rows)[:, 0]]
    np.testing.assert_array_equal(found, [value_of(tree, row, instead, value) for row in rows])


def test_nothing_taken_out_is_the_same_tree():
    forest = parse(forest_text("categorical"))
    again = replace(forest, trees=tuple(rebuild(tree, np.full(tree.n_nodes, KEEP)) for tree in forest.trees))
    rows = adversarial_rows("categorical")
    np.testing.assert_array_equal(margins(again, leaf_routes(again, rows)), margins(forest, leaf_routes(forest, rows)))
    assert sum(tree.n_nodes for tree in again.trees) == sum(tree.n_nodes for tree in forest.trees)


def test_statistics_stay_true_or_go():
    tree = parse(forest_text("binary")).trees[0]
    counts = np.array(tree.rest["leaf_count"].split(), int)
    cut = np.full(tree.n_nodes, KEEP)
    cut[-1] = CUT
    smaller = rebuild(tree, cut, np.zeros(tree.n_nodes))
    assert sum(map(int, smaller.rest["leaf_count"].split())) == counts.sum()
    assert len(smaller.rest["leaf_count"].split()) == len(smaller.leaf_value) == len(counts) - 1
    assert len(smaller.rest["split_gain"].split()) == smaller.n_nodes
    cut[-1] = LEFT
    assert "leaf_count" not in rebuild(tree, cut).rest  # rows of the lost side go elsewhere now


def test_everything_cut_is_one_leaf():
    tree = parse(forest_text("binary")).trees[0]
    stump = rebuild(tree, np.full(tree.n_nodes, CUT), np.full(tree.n_nodes, 7.0))
    assert (stump.n_nodes, stump.leaf_value.tolist()) == (0, [7.0])


def test_sums_below_a_node():
    tree = parse(forest_text("binary")).trees[0]
    ones = np.ones(len(tree.leaf_value))
    assert node_sums(tree.left, tree.right, ones)[0] == len(ones)
