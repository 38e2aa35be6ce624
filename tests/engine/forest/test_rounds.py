from dataclasses import replace

import numpy as np
import pytest

from engine.forest.lightgbm_text import parse
from engine.forest.rebuild import scaled
from engine.forest.rounds import choose_rounds, importance_weights, only_rounds, spread_rounds
from engine.forest.routes import margins, route
from tests.model_zoo import FORESTS, forest_text, rows


def routed(forest, name):
    return route(forest, ({"features": rows(FORESTS[name][1])},), 10_000, 0)


@pytest.mark.parametrize("name", ["binary", "multiclass", "rf"])
def test_rounds_that_add_nothing_are_never_chosen(name):
    forest = parse(forest_text(name))
    k = forest.n_classes
    silent = {1, 4, 5, 8, 9, 10}
    trees = tuple(scaled(tree, 0.0) if i // k in silent else tree for i, tree in enumerate(forest.trees))
    forest = replace(forest, trees=trees)
    sent = routed(forest, name)
    weights = choose_rounds(forest, sent.routes, sent.scores, 6)
    assert set(np.flatnonzero(weights)) == set(range(12)) - silent
    assert (weights >= 0).all()
    chosen = only_rounds(forest, np.flatnonzero(weights), weights)
    gap = margins(chosen, sent.of_rounds(np.flatnonzero(weights))) - sent.scores
    assert (gap - gap.mean(axis=0)).std() < 0.1 * sent.scores.std()


@pytest.mark.parametrize("n_keep", [1, 3, 12])
def test_at_most_so_many_stay(n_keep):
    forest = parse(forest_text("binary"))
    sent = routed(forest, "binary")
    assert 1 <= np.count_nonzero(choose_rounds(forest, sent.routes, sent.scores, n_keep)) <= n_keep


def test_constant_rounds_are_kept_from_the_front():
    forest = parse(forest_text("constant"))
    sent = routed(forest, "constant")
    assert np.flatnonzero(choose_rounds(forest, sent.routes, sent.scores, 1)).tolist() == [0]


def test_importance_is_the_curvature_of_the_loss():
    scores = np.array([[-1.0], [0.0], [2.0]])
    p = 1 / (1 + np.exp(-2.0 * scores))
    np.testing.assert_allclose(importance_weights(parse(forest_text("sigmoid2")), scores), p * (1 - p))
    assert (importance_weights(parse(forest_text("regression")), scores) == 1).all()
    three = np.array([[0.0, 1.0, 2.0]])
    q = np.exp(three) / np.exp(three).sum()
    np.testing.assert_allclose(importance_weights(parse(forest_text("multiclass")), three), q * (1 - q))
    poisson = importance_weights(parse(forest_text("poisson")), scores)
    np.testing.assert_allclose(poisson / poisson.max(), np.exp(scores - 2))


def test_spread_rounds_begin_with_the_first():
    assert spread_rounds(12, 4).tolist() == [0, 3, 6, 9]
    assert spread_rounds(10, 10).tolist() == list(range(10))
    assert spread_rounds(7, 1).tolist() == [0]
