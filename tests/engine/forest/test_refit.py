import numpy as np
import pytest

from engine.forest.lightgbm_text import parse
from engine.forest.refit import recentred, refit
from engine.forest.rounds import only_rounds
from engine.forest.routes import leaf_routes, margins, root_mean_square, route
from tests.model_zoo import FORESTS, adversarial_rows, booster, forest_text, rows


def routed(name, n_keep=4):
    forest = parse(forest_text(name))
    sent = route(forest, ({"features": rows(FORESTS[name][1])},), 10_000, 0)
    kept = np.arange(n_keep)
    return forest, sent, only_rounds(forest, kept), sent.of_rounds(kept)


@pytest.mark.parametrize("name", ["binary", "multiclass", "regression", "categorical", "rf", "dart"])
def test_scores_are_lightgbms(name):
    forest, sent, _, _ = routed(name)
    raw = booster(name).predict(sent.rows, raw_score=True, num_threads=1).reshape(sent.scores.shape)
    if forest.averaged:
        raw = booster(name).predict(sent.rows, num_threads=1).reshape(sent.scores.shape)
        found = 1 / (1 + np.exp(-sent.scores)) if forest.objective.link == "sigmoid" else sent.scores
        np.testing.assert_allclose(found, raw, rtol=1e-12)
    else:
        np.testing.assert_allclose(sent.scores, raw, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["binary", "multiclass", "rf"])
def test_it_is_the_ridge_solution_around_the_old_leaves(name):
    forest, sent, smaller, routes = routed(name)
    strength = 20.0
    found = refit(smaller, routes, sent.scores, strength)
    scale = smaller.n_rounds if smaller.averaged else 1
    for k in range(forest.n_classes):
        trees, own = smaller.trees[k :: forest.n_classes], routes[:, k :: forest.n_classes]
        ones = [np.eye(len(tree.leaf_value))[own[:, i]] for i, tree in enumerate(trees)]
        table, old = np.concatenate(ones, axis=1), np.concatenate([tree.leaf_value for tree in trees])
        gap = sent.scores[:, k] * scale - table @ old
        step = np.linalg.solve(table.T @ table + strength * np.eye(len(old)), table.T @ (gap - gap.mean()))
        expected = old + step
        expected[: len(trees[0].leaf_value)] += gap.mean()
        new = np.concatenate([tree.leaf_value for tree in found.trees[k :: forest.n_classes]])
        np.testing.assert_allclose(new, expected, atol=3e-5 * np.abs(expected).max())  # LSQR stops there


@pytest.mark.parametrize("name", ["binary", "multiclass", "regression", "categorical", "rf", "poisson"])
def test_the_scores_come_nearer_and_nothing_else_changes(name):
    _, sent, smaller, routes = routed(name)
    found = refit(smaller, routes, sent.scores, 30.0)
    before, after = (root_mean_square(margins(one, routes) - sent.scores) for one in (smaller, found))
    assert after < 0.8 * before
    fresh = adversarial_rows(name)
    np.testing.assert_array_equal(leaf_routes(smaller, fresh), leaf_routes(found, fresh))


def test_a_leaf_that_no_row_reaches_keeps_its_value():
    _, sent, smaller, routes = routed("binary")
    few = np.flatnonzero(routes[:, 2] != 3)[:50]
    found = refit(smaller, routes[few], sent.scores[few], 10.0)
    assert found.trees[2].leaf_value[3] == smaller.trees[2].leaf_value[3]


def test_the_mean_comes_back():
    _, sent, smaller, routes = routed("regression")
    centred = recentred(only_rounds(smaller, np.array([1, 3])), routes[:, [1, 3]], sent.scores)
    assert margins(centred, routes[:, [1, 3]]).mean() == pytest.approx(sent.scores.mean())
