import numpy as np
import pytest

from engine.distillation.trees_to_trees import TreesToTrees
from tests.engine.pruning.pruned import apply, native
from tests.model_zoo import FORESTS, booster, rows


@pytest.mark.parametrize("name", ["binary", "multiclass", "categorical", "rf", "poisson"])
def test_a_student_of_few_leaves_learns_the_scores(name, tmp_path):
    lever = TreesToTrees(rounds_fraction=1.0, n_leaves=6, learning_rate=0.3)
    notes, before, after, out = apply(lever, name, tmp_path)
    assert after.n_rounds == before.n_rounds
    assert notes["trees_after"] == len(before.trees)
    assert max(len(tree.leaf_value) for tree in after.trees) <= 6
    assert notes["score_gap"] < 0.6 * notes["score_spread"]
    table = rows(FORESTS[name][1])
    whole = booster(name).predict(table, num_threads=1)
    found = native(out, table)
    assert found.shape == whole.shape
    assert np.abs(found - whole).mean() < 0.6 * np.abs(whole - whole.mean(axis=0)).mean()


def test_the_number_of_rounds_can_be_given(tmp_path):
    notes, *_ = apply(TreesToTrees(n_rounds=3), "binary", tmp_path)
    assert notes["trees_after"] == 3
