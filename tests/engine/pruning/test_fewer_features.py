import numpy as np
import pytest

from engine.errors import DoesNotFit
from engine.forest.features import used_features
from engine.pruning.fewer_features import FewerFeatures
from tests.engine.pruning.pruned import apply, native
from tests.model_zoo import FORESTS, rows


@pytest.mark.parametrize("name", ["binary", "multiclass", "categorical", "rf"])
def test_dropped_columns_may_hold_anything(name, tmp_path):
    notes, before, after, out = apply(FewerFeatures(keep_features=2), name, tmp_path)
    kept = set(used_features(after))
    assert len(kept) == notes["features_after"] <= 2
    dropped = {before.feature_names.index(one) for one in notes["dropped"].split(", ")}
    assert len(dropped) == notes["features_before"] - 2
    assert not dropped & kept
    assert notes["score_gap_refitted"] < notes["score_gap_dropped"]
    table = rows(FORESTS[name][1])
    odd = table.copy()
    odd[:, sorted(dropped)] = np.nan
    np.testing.assert_array_equal(native(out, odd), native(out, table))


def test_the_column_that_carries_the_signal_stays(tmp_path):
    _, _, after, _ = apply(FewerFeatures(keep_features=2), "regression", tmp_path)
    assert used_features(after).tolist() == [0, 2]  # the labels of the zoo are made of these, and a sine of the last


def test_nothing_to_drop_is_said(tmp_path):
    with pytest.raises(DoesNotFit, match="nothing is to go"):
        apply(FewerFeatures(keep_features=9), "binary", tmp_path)
