"""What is told of XGBoost models."""

import json

import pytest

from engine.errors import BadModel
from engine.formats.recognise import recognise
from tests.engine.formats.taking import predict, sentence, take_confined, take_here
from tests.model_zoo import XGBOOST, xgboost_bytes


def upload(tmp_path, name, form="ubj", change=None):
    path = tmp_path / f"model.{form}"
    data = xgboost_bytes(name, form)
    if change:
        document = json.loads(data)
        change(document)
        data = json.dumps(document, indent=1).encode()
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("form", ["ubj", "json"])
@pytest.mark.parametrize("name", XGBOOST)
def test_every_kind_is_recognised_taken_and_answers(name, form, tmp_path):
    path = upload(tmp_path, name, form)
    assert recognise(path, "whatever.bin") == "xgboost"
    manifest = take_here(path, tmp_path / "out")
    assert manifest.n_trees > 0
    assert manifest.signature.inputs[0].shape == ("batch", 5)
    assert "single precision" in manifest.warnings[0]
    assert manifest.versions["objective"] == XGBOOST[name][0]["objective"]


@pytest.mark.parametrize(
    ("name", "task", "kind", "shape"),
    [
        ("xgb_binary", "binary", "probabilities", ("batch",)),
        ("xgb_multiclass", "multiclass", "probabilities", ("batch", 3)),
        ("xgb_softmax", "multiclass", "probabilities", ("batch", 3)),
        ("xgb_regression", "regression", "value", ("batch",)),
        ("xgb_ranking", "ranking", "value", ("batch",)),
        ("xgb_logitraw", "binary", "raw score", ("batch",)),
    ],
)
def test_the_objective_tells_task_and_kind(name, task, kind, shape, tmp_path):
    signature = take_here(upload(tmp_path, name), tmp_path / "out").signature
    assert (signature.task, signature.output_kind, signature.outputs[0].shape) == (task, kind, shape)


def test_it_runs_confined(tmp_path):
    manifest = take_confined(upload(tmp_path, "xgb_multiclass", "json"), tmp_path / "out")
    assert predict(manifest, tmp_path / "out")["score"]["shape"] == [3, 3]


def test_names_and_early_stopping_are_honoured(tmp_path):
    def change(document):
        document["learner"]["feature_names"] = list("vwxyz")
        document["learner"]["feature_types"] = ["float"] * 5
        document["learner"]["attributes"] = {"best_iteration": "3"}

    manifest = take_here(upload(tmp_path, "xgb_binary", "json", change), tmp_path / "out")
    assert manifest.signature.inputs[0].columns == tuple("vwxyz")
    assert manifest.n_trees == 4
    assert any("the first 4 of 8 rounds are used" in warning for warning in manifest.warnings)


def test_what_lightgbm_text_cannot_hold_is_said_at_once(tmp_path):
    assert "only XGBoost itself runs it" in take_here(upload(tmp_path, "xgb_hinge"), tmp_path / "out").warnings[-1]
    warnings = take_here(upload(tmp_path, "xgb_softmax"), tmp_path / "softmax").warnings
    assert any("class numbers" in warning for warning in warnings)


@pytest.mark.parametrize("form", ["ubj", "json"])
def test_a_cut_file_is_a_sentence(form, tmp_path):
    data = xgboost_bytes("xgb_binary", form)
    path = tmp_path / "model"
    path.write_bytes(data[: len(data) * 6 // 10])
    with pytest.raises(BadModel, match="damaged or cut off") as caught:
        take_confined(path, tmp_path / "out")
    sentence(caught.value)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"binf" + bytes(100), "old binary form"),
        (b"{L\0\0\0\0\0\0\0\6ConfigS", "snapshot"),
        (b"booster[0]:\n0:[f0<1.5] yes=1,no=2,missing=1\n", "dump"),
        (b'[\n  { "nodeid": 0, "depth": 0, "split": "f0" }\n]', "dump"),
        (b'{"gradient_booster": {}, "x": {"learner": 1}}', "no XGBoost model as save_model writes it"),
    ],
)
def test_other_files_of_xgboost_are_named(data, expected, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(data)
    with pytest.raises(BadModel, match=expected) as caught:
        recognise(path)
    assert "booster.save_model('model.ubj')" in sentence(caught.value) + str(caught.value)
