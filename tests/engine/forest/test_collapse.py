from dataclasses import replace

import numpy as np
import pytest

from engine.forest.collapse import collapse
from engine.forest.lightgbm_text import parse, write
from engine.forest.payload import stored_counts
from engine.forest.routes import leaf_counts, leaf_routes, margins, root_mean_square, route
from tests.model_zoo import FORESTS, forest_text, rows


@pytest.mark.parametrize("name", ["binary", "multiclass", "categorical", "rf"])
def test_fewer_splits_and_the_mean_stays(name):
    forest = parse(forest_text(name))
    sent = route(forest, ({"features": rows(FORESTS[name][1])},), 10_000, 0)
    total = sum(tree.n_nodes for tree in forest.trees)
    gaps = []
    for n in (total, total * 2 // 3, total // 3, 1):
        smaller = collapse(forest, leaf_counts(forest, sent.routes), n)
        assert sum(tree.n_nodes for tree in smaller.trees) <= n
        again = parse(write(smaller))
        found = margins(again, leaf_routes(again, sent.rows))
        np.testing.assert_allclose(found.mean(axis=0), sent.scores.mean(axis=0), rtol=1e-9)
        gaps.append(root_mean_square(found - sent.scores))
    assert gaps[0] == 0.0
    assert gaps == sorted(gaps)


def test_the_split_that_matters_least_goes_first():
    """Of one tree with one split to spare, it is the one whose two leaves differ least, weighted by rows."""
    forest = parse(forest_text("binary"))
    forest = replace(forest, trees=forest.trees[:1])
    tree = forest.trees[0]
    (counts,) = stored_counts(forest)
    pairs = [
        (counts[~a] * counts[~b] / (counts[~a] + counts[~b]) * (tree.leaf_value[~a] - tree.leaf_value[~b]) ** 2, a, b)
        for a, b in zip(tree.left.tolist(), tree.right.tolist(), strict=True)
        if a < 0 and b < 0
    ]
    _, a, b = min(pairs)
    smaller = collapse(forest, [counts], tree.n_nodes - 1)
    gone = set(tree.leaf_value) - set(smaller.trees[0].leaf_value)
    assert gone == {tree.leaf_value[~a], tree.leaf_value[~b]}


def test_counts_of_the_file_are_those_of_training():
    forest = parse(forest_text("regression"))
    assert all(counts.sum() == 600 for counts in stored_counts(forest))
