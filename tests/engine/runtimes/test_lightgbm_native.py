import numpy as np
import pytest

from engine.errors import BadModel, Mismatch
from engine.runtimes.lightgbm_native import LightgbmNative
from tests.model_zoo import FORESTS, booster, forest_artefact, rows


@pytest.mark.parametrize("name", ["binary", "multiclass", "rf", "root", "custom", "linear"])
def test_answers_are_those_of_the_booster(name, tmp_path):
    table = rows(FORESTS[name][1])
    with LightgbmNative().open(forest_artefact(name, tmp_path)) as predict:
        np.testing.assert_array_equal(predict({"features": table})["score"], booster(name).predict(table))
        single = predict({"features": table[:1]})["score"]
    assert single.shape == booster(name).predict(table[:1]).shape
    assert single.dtype == np.float64


def test_wrong_columns_or_names_are_said(tmp_path):
    with LightgbmNative().open(forest_artefact("binary", tmp_path)) as predict:
        with pytest.raises(Mismatch, match=r"shape \(3, 4\), the model takes \('n', 5\)"):
            predict({"features": np.zeros((3, 4))})
        with pytest.raises(Mismatch, match="float32, the model takes float64"):
            predict({"features": np.zeros((3, 5), np.float32)})
        with pytest.raises(Mismatch, match="takes the inputs features; got x"):
            predict({"x": np.zeros((3, 5))})


def test_a_file_the_library_refuses_is_a_message(tmp_path):
    artefact = forest_artefact("binary", tmp_path)
    path = tmp_path / "model.txt"
    path.write_text(path.read_text().replace("label_index=0\n", ""))
    with pytest.raises(BadModel, match="cannot load this model"), LightgbmNative().open(artefact):
        pass


@pytest.mark.parametrize("name", ["binary", "multiclass", "rf", "custom", "linear"])
def test_the_single_row_call_gives_the_same_bits(name, tmp_path):
    table = rows(FORESTS[name][1])[:40]
    right = booster(name).predict(table, num_threads=1)
    with LightgbmNative(single_row=True).open(forest_artefact(name, tmp_path)) as predict:
        found = np.concatenate([predict({"features": table[i : i + 1]})["score"] for i in range(len(table))])
        np.testing.assert_array_equal(found, right)
        np.testing.assert_array_equal(predict({"features": table})["score"], right)
        with pytest.raises(Mismatch, match="float32"):
            predict({"features": table[:1].astype(np.float32)})
        with pytest.raises(Mismatch, match="takes the inputs"):
            predict({})
