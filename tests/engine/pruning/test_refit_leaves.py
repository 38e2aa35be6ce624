import numpy as np
import pytest

from engine.errors import DoesNotFit
from engine.forest.routes import mixed_rows
from engine.plugin import Context, Split
from engine.pruning.refit_leaves import RefitLeaves
from tests.engine.pruning.pruned import apply, context, native
from tests.model_zoo import FORESTS, adversarial_rows, booster, rows


@pytest.mark.parametrize("name", ["binary", "multiclass", "regression", "categorical", "rf", "dart", "poisson", "root"])
def test_it_comes_nearer_than_truncating(name, tmp_path):
    notes, before, after, out = apply(RefitLeaves(keep_rounds=4), name, tmp_path)
    assert after.n_rounds == notes["trees_after"] / before.n_classes == 4
    assert notes["score_gap_refitted"] < notes["score_gap_truncated"]
    table = rows(FORESTS[name][1])
    whole = booster(name).predict(table, num_threads=1)
    truncated = booster(name).predict(table, num_iteration=4, num_threads=1)
    refitted = native(out, table)
    assert np.abs(refitted - whole).mean() < np.abs(truncated - whole).mean()


def test_all_rounds_kept_are_the_same_answers(tmp_path):
    *_, out = apply(RefitLeaves(keep_fraction=1.0), "binary", tmp_path)
    table = adversarial_rows("binary")
    np.testing.assert_allclose(native(out, table), booster("binary").predict(table, num_threads=1), atol=1e-12)


def test_spread_rounds_are_taken_over_the_whole_training(tmp_path):
    _, before, after, _ = apply(RefitLeaves(keep_rounds=3, rounds="spread"), "binary", tmp_path)
    expected = [before.trees[i].threshold.tolist() for i in (0, 4, 8)]
    assert [tree.threshold.tolist() for tree in after.trees] == expected


def test_made_up_rows_are_rows_of_the_data_with_some_values_swapped():
    table = rows("plain")
    made = mixed_rows(table, 5_000, np.random.default_rng(0))
    assert made.shape == (5_000, 5)
    assert all(np.isin(made[:, k], table[:, k]).all() for k in range(5))
    whole = np.isin(made[:, 0] + 7 * made[:, 2] / 1e6, table[:, 0] + 7 * table[:, 2] / 1e6)
    assert 0.75 < whole.mean() < 0.9  # both values of one row: neither or both swapped
    assert not len(mixed_rows(table, 0, np.random.default_rng(0)))


def test_calibration_rows_do_where_there_are_no_training_rows(tmp_path):
    notes, *_ = apply(RefitLeaves(), "binary", tmp_path, context("binary", n_train=0))
    assert (notes["rows_used"], notes["rows_made_up"]) == (50, 100)
    nothing = Context("0", Split({"features": np.zeros((0, 5))}), Split({"features": np.zeros((0, 5))}))
    with pytest.raises(DoesNotFit, match="needs training or calibration rows"):
        apply(RefitLeaves(), "binary", tmp_path / "again", nothing)


@pytest.mark.parametrize("name", ["linear"])
def test_linear_leaves_are_refused(name, tmp_path):
    with pytest.raises(DoesNotFit, match="linear models"):
        apply(RefitLeaves(), name, tmp_path)


def test_more_rounds_than_there_are(tmp_path):
    with pytest.raises(DoesNotFit, match="keep_rounds is 13, the model has 12"):
        apply(RefitLeaves(keep_rounds=13), "binary", tmp_path)
