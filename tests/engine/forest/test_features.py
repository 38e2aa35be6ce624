import numpy as np
import pytest

from engine.forest.features import majority, score_changes, used_features, without
from engine.forest.lightgbm_text import parse
from engine.forest.routes import leaf_routes, margins, root_mean_square, route
from tests.model_zoo import FORESTS, adversarial_rows, forest_text, rows


def looked_at(name):
    forest = parse(forest_text(name))
    sent = route(forest, ({"features": rows(FORESTS[name][1])},), 10_000, 0)
    return forest, sent, majority(forest, sent.routes)


@pytest.mark.parametrize("name", ["binary", "multiclass", "categorical", "rf"])
def test_a_feature_that_is_out_is_never_read(name):
    forest, _, sides = looked_at(name)
    gone = used_features(forest)[1::2]
    smaller = without(forest, gone, sides)
    assert set(used_features(smaller)) <= set(used_features(forest)) - set(gone)
    table = adversarial_rows(name)
    changed = table.copy()
    changed[:, gone] = np.random.default_rng(0).permutation(table[:, gone])
    np.testing.assert_array_equal(leaf_routes(smaller, table), leaf_routes(smaller, changed))


@pytest.mark.parametrize("name", ["regression", "multiclass", "rf"])
def test_the_change_is_that_of_the_forest_without_it(name):
    forest, sent, sides = looked_at(name)
    changes = score_changes(forest, sent, sides, 1, lambda part, text: None)
    assert list(changes.values()) == sorted(changes.values())
    assert set(changes) == set(used_features(forest))
    if name == "regression":  # every row counts the same
        for feature, change in changes.items():
            smaller = without(forest, np.array([feature]), sides)
            gap = margins(smaller, leaf_routes(smaller, sent.rows)) - sent.scores
            assert change == pytest.approx(root_mean_square(gap))


def test_most_rows_decide_the_side():
    forest, sent, sides = looked_at("binary")
    tree, left = forest.trees[0], sides[0]
    goes = sent.rows[:, tree.feature[0]] <= tree.threshold[0]
    known = ~np.isnan(sent.rows[:, tree.feature[0]])
    if abs(goes[known].mean() - 0.5) > 0.15:
        assert left[0] == (goes[known].mean() > 0.5)
