import numpy as np
import pytest

from engine.errors import DoesNotFit
from engine.plugin import Artefact
from engine.quantisation.tree_bins import TreeBins
from engine.runtimes.lightgbm_native import LightgbmNative
from engine.runtimes.trees_binned import TreesBinned
from tests.engine.pruning.pruned import context
from tests.model_zoo import adversarial_rows, forest_artefact


@pytest.mark.parametrize("name", ["binary", "multiclass", "categorical", "rf", "zero_as_missing"])
def test_bins_lose_nothing(name, tmp_path):
    source = forest_artefact(name, tmp_path / "source")
    out = tmp_path / "out"
    out.mkdir()
    notes = TreeBins().apply(source, out, context(name))
    assert notes["structure"].startswith("exact")
    assert notes["bytes_after"] < notes["bytes_before"]
    result = Artefact(source.manifest.model_copy(update={"format": "trees_binned"}), out)
    features = {"features": adversarial_rows(name)}
    with LightgbmNative().open(source) as right, TreesBinned().open(result) as found:
        np.testing.assert_allclose(found(features)["score"], right(features)["score"], rtol=4e-15, atol=0)


def test_linear_leaves_are_refused(tmp_path):
    with pytest.raises(DoesNotFit, match="linear"):
        TreeBins().apply(forest_artefact("linear", tmp_path / "source"), tmp_path, context("linear"))


def test_the_catalogue_says_what_int8_does_to_trees():
    assert "INT8 through ONNX" in TreeBins.__doc__
