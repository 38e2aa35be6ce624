import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.forest.forest import Forest
from engine.forest.leaf_grid import LARGEST, grid_of, to_grid
from engine.forest.lightgbm_text import parse, write
from engine.forest.rebuild import scaled
from tests.model_zoo import forest_text


@pytest.mark.parametrize("name", ["binary", "multiclass", "regression", "rf", "constant", "poisson"])
def test_what_was_rounded_lies_on_a_grid_that_is_found(name):
    forest = parse(forest_text(name))
    rounded, step = to_grid(forest)
    grid = grid_of(parse(write(rounded)))
    assert grid is not None
    assert grid.scale >= step
    for tree, old, middle, steps in zip(rounded.trees, forest.trees, grid.middles, grid.steps, strict=True):
        assert steps.dtype == np.int16
        np.testing.assert_array_equal((middle + steps.astype(np.int64)) * grid.scale, tree.leaf_value)
        assert np.abs(tree.leaf_value - old.leaf_value).max() <= step * 0.500001


def test_the_step_is_as_fine_as_16_bits_allow_within_a_factor_of_two():
    forest = parse(forest_text("binary"))
    reach = max(np.ptp(tree.leaf_value) for tree in forest.trees) / 2
    _, step = to_grid(forest)
    assert reach / LARGEST <= step < 2 * reach / LARGEST
    assert np.log2(step) == round(np.log2(step))


def test_trained_leaves_lie_on_none():
    assert grid_of(parse(forest_text("binary"))) is None


def test_sums_are_the_same_in_any_order():
    rounded, _ = to_grid(parse(forest_text("regression")))
    values = [float(tree.leaf_value[i % len(tree.leaf_value)]) for i in range(9) for tree in rounded.trees]
    expected = sum(values)
    for seed in range(5):
        random.Random(seed).shuffle(values)
        assert sum(values) == expected


@settings(max_examples=80, deadline=None)
@given(
    values=st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=9, max_size=9),
    factor=st.sampled_from([1.0, 1e-12, 3.3e5]),
)
def test_any_leaves_can_be_rounded(values, factor):
    forest = parse(forest_text("binary"))
    first = replace(forest.trees[0], leaf_value=np.array(values) * factor)
    forest: Forest = replace(forest, trees=(first, *(scaled(tree, factor) for tree in forest.trees[1:])))
    rounded, step = to_grid(forest)
    assert grid_of(rounded) is not None
    gaps = [np.abs(a.leaf_value - b.leaf_value).max() for a, b in zip(forest.trees, rounded.trees, strict=True)]
    assert max(gaps) <= step
