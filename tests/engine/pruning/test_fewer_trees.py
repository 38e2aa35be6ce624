import lightgbm as lgb
import numpy as np
import pytest
from pydantic import ValidationError

from engine.errors import DoesNotFit
from engine.forest.lightgbm_text import load
from engine.plugin import Context, Split
from engine.pruning.fewer_trees import FewerTrees
from tests.model_zoo import adversarial_rows, booster, forest_artefact

NOTHING = Context(data_id="0", train=Split({}), calibration=Split({}))


def prune(name, tmp_path, **params):
    out = tmp_path / "out"
    out.mkdir()
    notes = FewerTrees(**params).apply(forest_artefact(name, tmp_path / "source"), out, NOTHING)
    return notes, out / "model.txt"


@pytest.mark.parametrize("name", ["binary", "multiclass", "regression", "categorical", "rf", "linear", "poisson"])
@pytest.mark.parametrize("params", [{"keep_fraction": 0.25}, {"keep_rounds": 5}, {"keep_fraction": 1.0}])
def test_equals_the_native_prediction_with_fewer_rounds(name, params, tmp_path):
    notes, path = prune(name, tmp_path, **params)
    rounds = params.get("keep_rounds") or round(12 * params["keep_fraction"])
    rows = adversarial_rows(name)
    expected = booster(name).predict(rows, num_iteration=rounds, num_threads=1)
    np.testing.assert_array_equal(lgb.Booster(model_file=path).predict(rows, num_threads=1), expected)
    n_classes = booster(name).num_model_per_iteration()
    assert notes["n_trees"] == notes["trees_after"] == rounds * n_classes
    assert notes["trees_before"] == 12 * n_classes


def test_random_forest_averages_over_what_is_left(tmp_path):
    notes, path = prune("rf", tmp_path, keep_rounds=3)
    probability = lgb.Booster(model_file=path).predict(adversarial_rows("rf"))
    assert "averages over 3 trees" in notes["remark"]
    assert probability.min() > 0.05
    assert probability.max() < 0.95


def test_start_value_is_kept(tmp_path):
    """LightGBM adds the mean of the labels to the first tree: without it every answer would be off by it."""
    _, path = prune("regression", tmp_path, keep_rounds=1)
    whole, first = booster("regression").predict(adversarial_rows("regression")), load(path).trees[0].leaf_value
    assert abs(first.mean() - whole.mean()) < 0.5 * whole.mean()


def test_dart_gets_its_warning(tmp_path):
    notes, _ = prune("dart", tmp_path)
    assert "DART" in notes["remark"]


def test_at_least_one_round_stays_and_more_than_all_is_refused(tmp_path):
    notes, _ = prune("binary", tmp_path, keep_fraction=0.001)
    assert notes["trees_after"] == 1
    with pytest.raises(DoesNotFit, match="keep_rounds is 13, the model has 12"):
        FewerTrees(keep_rounds=13).apply(forest_artefact("binary", tmp_path), tmp_path, NOTHING)


@pytest.mark.parametrize("value", [0.0, -0.5, 1.4])
def test_fraction_outside_its_range(value):
    with pytest.raises(ValidationError):
        FewerTrees(keep_fraction=value)
