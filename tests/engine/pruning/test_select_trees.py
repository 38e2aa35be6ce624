import numpy as np
import pytest

from engine.pruning.select_trees import SelectTrees
from tests.engine.pruning.pruned import apply, native
from tests.model_zoo import FORESTS, booster, rows


@pytest.mark.parametrize("name", ["binary", "multiclass", "regression", "rf"])
def test_few_rounds_stay_near_the_original(name, tmp_path):
    notes, before, after, out = apply(SelectTrees(keep_rounds=4), name, tmp_path)
    assert 1 <= after.n_rounds <= 4
    assert len(after.trees) == after.n_rounds * before.n_classes == notes["trees_after"]
    assert notes["score_gap"] <= notes["score_gap_selected"]
    table = rows(FORESTS[name][1])
    whole = booster(name).predict(table, num_threads=1)
    first = booster(name).predict(table, num_iteration=after.n_rounds, num_threads=1)
    assert np.abs(native(out, table) - whole).mean() < np.abs(first - whole).mean()


def test_without_the_refit_leaves_are_scaled_only(tmp_path):
    _, before, after, _ = apply(SelectTrees(keep_rounds=3, refit=False), "binary", tmp_path)
    by_splits = {tuple(tree.threshold): tree for tree in before.trees}
    for tree in after.trees[1:]:  # the first one carries the mean
        old = by_splits[tuple(tree.threshold)]
        ratio = tree.leaf_value / old.leaf_value
        np.testing.assert_allclose(ratio, ratio[0])
        assert ratio[0] > 0
