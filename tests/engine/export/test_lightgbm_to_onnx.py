import numpy as np
import pytest

from engine.errors import DoesNotFit
from engine.export.lightgbm_to_onnx import LightgbmToOnnx
from engine.plugin import Artefact, Context, Split
from engine.runtimes.lightgbm_native import LightgbmNative
from engine.runtimes.onnxruntime_cpu import OnnxruntimeCpu
from tests.model_zoo import adversarial_rows, forest_artefact, forest_text

NOTHING = Context(data_id="0", train=Split({}), calibration=Split({}))


def convert(artefact, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    notes = LightgbmToOnnx().apply(artefact, out, NOTHING)
    return notes, Artefact(artefact.manifest.model_copy(update={"format": "onnx"}), out)


@pytest.mark.parametrize(
    "name",
    ["binary", "sigmoid2", "multiclass", "multiclassova", "categorical", "rf", "root", "poisson", "zero_as_missing"],
)
def test_runtimes_agree_on_every_trap(name, tmp_path):
    source = forest_artefact(name, tmp_path / "source")
    notes, result = convert(source, tmp_path)
    assert notes["trees"] == source.manifest.n_trees
    features = {"features": adversarial_rows(name)}
    with LightgbmNative().open(source) as right, OnnxruntimeCpu().open(result) as found:
        np.testing.assert_allclose(found(features)["score"], right(features)["score"], rtol=4e-15, atol=0)
        one = {"features": features["features"][:1]}
        assert found(one)["score"].shape == right(one)["score"].shape


@pytest.mark.parametrize(
    ("name", "reason"), [("linear", "linear trees cannot be converted"), ("custom", "objective is custom")]
)
def test_what_onnx_cannot_hold_is_refused(name, reason, tmp_path):
    with pytest.raises(DoesNotFit, match=reason):
        convert(forest_artefact(name, tmp_path / "source"), tmp_path)
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("line", ["custom", "none", ""])
def test_custom_objective_is_greyed_out_before_anything_runs(line, tmp_path):
    manifest = forest_artefact("custom", tmp_path).manifest
    assert "objective=" not in forest_text("custom")
    described = manifest.model_copy(update={"versions": {"objective": line} if line else {}})
    found = LightgbmToOnnx.fits(described, {})
    assert (found is not None and "custom" in found) == bool(line)
