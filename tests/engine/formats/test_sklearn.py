"""Forests of scikit-learn come in through ONNX, in the single precision that scikit-learn itself casts its rows to."""

import warnings

import numpy as np
import pytest
from sklearn import ensemble

from engine.errors import BadModel
from engine.formats.recognise import recognise
from engine.plugin import Artefact
from engine.runtimes.onnxruntime_cpu import OnnxruntimeCpu
from tests.engine.formats.taking import take_here

MODELS = {
    "random forest": ensemble.RandomForestClassifier(10, max_depth=5, random_state=0),
    "extra trees": ensemble.ExtraTreesClassifier(10, max_depth=5, random_state=0),
    "boosting": ensemble.GradientBoostingClassifier(n_estimators=10, random_state=0),
    "forest of values": ensemble.RandomForestRegressor(10, max_depth=5, random_state=0),
    "boosted values": ensemble.GradientBoostingRegressor(n_estimators=10, random_state=0),
}


def exported(model, path):
    from skl2onnx import to_onnx

    random = np.random.default_rng(0)
    table = random.normal(size=(400, 4))
    label = table[:, 0] * table[:, 1] + table[:, 2]
    model.fit(table, label if hasattr(model, "predict") and "Regressor" in type(model).__name__ else label > 0)
    options = {} if "Regressor" in type(model).__name__ else {id(model): {"zipmap": False}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path.write_bytes(to_onnx(model, table[:1].astype(np.float32), options=options).SerializeToString())
    return table.astype(np.float32)


@pytest.mark.parametrize("name", MODELS)
def test_a_forest_comes_in_through_onnx(name, tmp_path):
    model = MODELS[name]
    table = exported(model, tmp_path / "m.onnx")
    manifest = take_here(tmp_path / "m.onnx", tmp_path / "out")
    assert manifest.n_trees == 10
    right = model.predict_proba(table) if hasattr(model, "predict_proba") else model.predict(table)
    with OnnxruntimeCpu().open(Artefact(manifest, tmp_path / "out")) as predict:
        outputs = predict({manifest.signature.inputs[0].name: table})
    found = outputs[manifest.signature.score_output or manifest.signature.outputs[0].name]
    np.testing.assert_allclose(found.reshape(right.shape), right, rtol=1e-5, atol=2e-6)
    if hasattr(model, "predict_proba"):
        assert (manifest.signature.task, manifest.signature.output_kind) == ("binary", "probabilities")


def test_what_has_no_way_in_is_told_how_to_export(tmp_path):
    import pickle
    import zipfile

    (tmp_path / "model.pkl").write_bytes(pickle.dumps(ensemble.HistGradientBoostingClassifier()))
    with zipfile.ZipFile(tmp_path / "model.skops", "w") as archive:
        archive.writestr("schema.json", "{}")
    for name, expected in (("model.pkl", "pickled Python object"), ("model.skops", "skops file")):
        with pytest.raises(BadModel, match=expected) as caught:
            recognise(tmp_path / name)
        assert "skl2onnx.to_onnx" in str(caught.value)
        assert "HistGradientBoosting" in str(caught.value)
