import numpy as np
import pytest

from engine.errors import BadModel, Mismatch
from engine.runtimes.xgboost_native import XgboostNative
from tests.model_zoo import XGBOOST, rows, xgboost_artefact, xgboost_booster


@pytest.mark.parametrize("name", ["xgb_binary", "xgb_multiclass", "xgb_dart", "xgb_categorical", "xgb_poisson"])
def test_it_gives_xgboosts_own_answers_in_double(name, tmp_path):
    table = rows(XGBOOST[name][1])
    expected = xgboost_booster(name).inplace_predict(table, validate_features=False)
    with XgboostNative().open(xgboost_artefact(name, tmp_path / "model")) as predict:
        found = predict({"features": table})["score"]
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, expected.astype(np.float64))


def test_a_file_that_does_not_load_is_a_sentence(tmp_path):
    artefact = xgboost_artefact("xgb_binary", tmp_path / "model")
    (artefact.folder / "model.ubj").write_bytes(b"{L")
    with pytest.raises(BadModel, match="cannot load this model"), XgboostNative().open(artefact):
        pass


def test_infinity_is_refused_by_xgboost_or_answered(tmp_path):
    table = rows("missing").copy()
    table[0, 0] = np.inf
    with XgboostNative().open(xgboost_artefact("xgb_binary", tmp_path / "model")) as predict:
        try:
            assert np.isfinite(predict({"features": table})["score"]).all()
        except Mismatch as error:
            assert "XGBoost stopped on these rows" in str(error)  # noqa: PT017
