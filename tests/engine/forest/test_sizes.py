from itertools import pairwise

import numpy as np
import pytest

from engine.forest.lightgbm_text import parse
from engine.forest.sizes import by_features, by_rounds, sizes
from tests.model_zoo import FORESTS, adversarial_rows, booster, forest_text, rows


def quiet(part, text):
    assert 0 <= part <= 1


def test_sizes_grow_evenly_to_the_whole():
    assert sizes(12, 0, 20) == list(range(1, 13))
    found = sizes(1200, 24, 20)
    assert (found[0], found[-1], len(found)) == (24, 1200, 20)
    assert max(b / a for a, b in pairwise(found)) < 1.3
    assert sizes(1, 0, 20) == [1]


@pytest.mark.parametrize("name", ["binary", "multiclass", "rf", "poisson", "root", "categorical", "custom"])
def test_the_sums_grow_to_lightgbms_answers(name):
    forest, table = parse(forest_text(name)), adversarial_rows(name)
    found = dict(by_rounds(forest, table, 1, quiet))
    assert list(found) == list(range(1, 13))
    for n in (1, 5, 12):
        expected = booster(name).predict(table, num_iteration=n, num_threads=1).reshape(found[n].shape)
        np.testing.assert_allclose(found[n], expected, rtol=1e-12, atol=1e-14)


def test_the_most_important_features_come_first_and_all_of_them_change_nothing():
    forest, table = parse(forest_text("regression")), rows("plain")
    order, answers = by_features(forest, table, ({"features": rows(FORESTS["regression"][1])},), 0, 1, quiet)
    found = dict(answers)
    assert set(order[:2]) == {0, 2}
    whole = booster("regression").predict(table, num_threads=1)[:, None]
    np.testing.assert_allclose(found[len(order)], whole, rtol=1e-12)
    gaps = [np.abs(values - whole).mean() for values in found.values()]
    assert gaps[0] > 2 * gaps[1] > 2 * gaps[-1]
