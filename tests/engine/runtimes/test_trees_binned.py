import numpy as np
import pytest

from engine.errors import BadModel, Mismatch
from engine.runtimes.trees_binned import TreesBinned
from tests.model_zoo import FORESTS, binned_artefact, booster, rows


@pytest.mark.parametrize("name", ["binary", "multiclass", "categorical", "rf", "custom", "root"])
def test_answers_are_those_of_the_booster(name, tmp_path):
    table = rows(FORESTS[name][1])
    with TreesBinned().open(binned_artefact(name, tmp_path)) as predict:
        right = booster(name).predict(table, num_threads=1)
        np.testing.assert_array_max_ulp(predict({"features": table})["score"], right, maxulp=1)
        single = predict({"features": table[:1]})["score"]
    assert single.shape == right[:1].shape
    np.testing.assert_array_max_ulp(single, right[:1], maxulp=1)


def test_wrong_columns_are_said(tmp_path):
    with (
        TreesBinned().open(binned_artefact("binary", tmp_path)) as predict,
        pytest.raises(Mismatch, match=r"shape \(3, 4\), the model takes \('n', 5\)"),
    ):
        predict({"features": np.zeros((3, 4))})


@pytest.mark.parametrize("damage", [lambda data: data[:100], lambda data: b"PK" + bytes(200), lambda data: b""])
def test_a_damaged_file_is_a_message(damage, tmp_path):
    artefact = binned_artefact("binary", tmp_path)
    path = tmp_path / "forest.npz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(BadModel, match=r"forest\.npz cannot be read"), TreesBinned().open(artefact):
        pass
