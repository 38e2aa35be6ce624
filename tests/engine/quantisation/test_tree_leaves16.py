import numpy as np
import pytest

from engine.forest.leaf_grid import grid_of
from engine.forest.routes import leaf_routes
from engine.quantisation.tree_leaves16 import TreeLeaves16
from tests.engine.pruning.pruned import apply, native
from tests.model_zoo import adversarial_rows, booster


@pytest.mark.parametrize("name", ["binary", "multiclass", "regression", "rf", "categorical", "constant"])
def test_the_ways_stay_and_the_answers_nearly(name, tmp_path):
    notes, before, after, out = apply(TreeLeaves16(), name, tmp_path)
    assert grid_of(after) is not None
    table = adversarial_rows(name)
    np.testing.assert_array_equal(leaf_routes(before, table), leaf_routes(after, table))
    gap = np.abs(native(out, table) - booster(name).predict(table, num_threads=1)).max()
    assert gap <= notes["largest_score_change"] + 1e-12
    assert notes["largest_leaf_change"] <= notes["leaf_step"] / 2 * 1.000001
