import numpy as np
import pytest

from engine.errors import DoesNotFit
from engine.export.lightgbm_to_onnx import LightgbmToOnnx
from engine.export.xgboost_to_lightgbm import XgboostToLightgbm
from engine.plugin import Artefact, Context, Split
from engine.runtimes.lightgbm_native import LightgbmNative
from engine.runtimes.onnxruntime_cpu import OnnxruntimeCpu
from engine.runtimes.xgboost_native import XgboostNative
from tests.model_zoo import XGBOOST, rows, xgboost_artefact

NOTHING = Context(data_id="0", train=Split({}), calibration=Split({}))


def convert(lever, source, out, produced):
    out.mkdir()
    notes = lever.apply(source, out, NOTHING)
    return notes, Artefact(source.manifest.model_copy(update={"format": produced, "versions": {}}), out)


@pytest.mark.parametrize(
    "name", [name for name in XGBOOST if name not in ("xgb_hinge", "xgb_categorical", "xgb_logitraw")]
)
def test_the_chain_to_onnx_agrees_to_the_seventh_digit(name, tmp_path):
    source = xgboost_artefact(name, tmp_path / "source")
    notes, text = convert(XgboostToLightgbm(), source, tmp_path / "text", "lightgbm")
    assert notes["n_trees"] == source.manifest.n_trees
    _, onnx = convert(LightgbmToOnnx(), text, tmp_path / "onnx", "onnx")
    inputs = {"features": rows(XGBOOST[name][1])}
    with (
        XgboostNative().open(source) as right,
        LightgbmNative().open(text) as two,
        OnnxruntimeCpu().open(onnx) as three,
    ):
        expected, found, exported = (one(inputs)["score"] for one in (right, two, three))
    np.testing.assert_allclose(found, expected, rtol=3e-6, atol=3e-6)
    np.testing.assert_allclose(exported, found, rtol=4e-15, atol=1e-15)


def test_a_raw_score_stays_one(tmp_path):
    source = xgboost_artefact("xgb_logitraw", tmp_path / "source")
    _, text = convert(XgboostToLightgbm(), source, tmp_path / "text", "lightgbm")
    inputs = {"features": rows("plain")}
    with XgboostNative().open(source) as right, LightgbmNative().open(text) as found:
        np.testing.assert_allclose(found(inputs)["score"], right(inputs)["score"], rtol=3e-6, atol=3e-6)


def test_what_the_text_cannot_hold_is_refused(tmp_path):
    with pytest.raises(DoesNotFit, match="binary:hinge"):
        convert(XgboostToLightgbm(), xgboost_artefact("xgb_hinge", tmp_path / "source"), tmp_path / "text", "lightgbm")
