"""The intake part of cases from the public record."""

import onnx
import pytest

from engine.errors import BadModel
from engine.formats.onnx_versions import newest_ir, newest_opset
from tests.engine.formats.taking import predict, sentence, take_confined, take_here


def refusal(path, out) -> str:
    with pytest.raises(BadModel) as caught:
        take_confined(path, out)
    sentence(caught.value)
    return str(caught.value)


def test_p01_a_frozen_batch_is_said(public_cases, tmp_path):
    manifest = take_here(public_cases / "P01" / "model.onnx", tmp_path / "out")
    assert manifest.signature.fixed_batch == 1
    assert any(warning.startswith("batch fixed at 1:") for warning in manifest.warnings)
    assert take_here(public_cases / "P13" / "model.onnx", tmp_path / "free").warnings == ()


def test_p02_missing_weights_are_named_and_a_zip_is_the_way(public_cases, tmp_path):
    said = refusal(public_cases / "P02" / "model.onnx", tmp_path / "out")
    assert said.startswith("Needs model.onnx.data (not uploaded)")
    assert "zip" in said


@pytest.mark.parametrize(
    ("file", "made_for", "newest"),
    [("opset99.onnx", "opset 99", lambda: newest_opset("")), ("ir99.onnx", "(IR) 99", newest_ir)],
)
def test_p03_a_newer_version_is_named_with_what_is_read_here(file, made_for, newest, public_cases, tmp_path):
    said = refusal(public_cases / "P03" / file, tmp_path / "out")
    assert said.startswith("Made for")
    assert made_for in said
    assert f"reads up to {newest()}" in said
    assert "xport again" in said or "Save it again" in said


def test_p03_the_versions_named_are_those_that_open(public_cases, tmp_path):
    """The newest versions are taken and answer; one more is refused by name."""
    model = onnx.load(public_cases / "P13" / "model.onnx")
    model.opset_import[0].version, model.ir_version = newest_opset(""), newest_ir()
    onnx.save(model, tmp_path / "newest.onnx")
    manifest = take_confined(tmp_path / "newest.onnx", tmp_path / "out")
    assert predict(manifest, tmp_path / "out")["y"]["shape"] == [3, 2]
    model.opset_import[0].version += 1
    onnx.save(model, tmp_path / "newer.onnx")
    assert f"Made for opset {newest_opset('') + 1}" in refusal(tmp_path / "newer.onnx", tmp_path / "refused")


def test_p05_the_probabilities_of_a_classifier_are_its_score(public_cases, tmp_path):
    manifest = take_confined(public_cases / "P05" / "model.onnx", tmp_path / "out")
    signature = manifest.signature
    assert [output.name for output in signature.outputs] == ["output_label", "output_probability"]
    assert (signature.score_output, signature.output_kind) == ("output_probability", "probabilities")
    assert (signature.task, signature.classes) == ("binary", ("no", "yes"))
    assert (signature.outputs[1].dtype, signature.outputs[1].shape) == ("float32", ("batch", 2))
    assert any("ZipMap" in warning for warning in manifest.warnings)
    assert predict(manifest, tmp_path / "out")["output_probability"]["shape"] == [3, 2]


def test_p08_a_pickle_is_refused_with_the_way_to_export(public_cases, tmp_path):
    said = refusal(public_cases / "P08" / "model.pt", tmp_path / "out")
    assert "pickled Python object" in said
    assert "torch.export.save(program, 'model.pt2')" in said


def test_p09_a_cut_booster_is_a_message_and_a_whole_one_works(public_cases, tmp_path):
    assert "file is damaged or cut off" in refusal(public_cases / "P09" / "model_cut.txt", tmp_path / "cut")
    manifest = take_confined(public_cases / "P09" / "model_ok.txt", tmp_path / "out")
    assert (manifest.n_trees, manifest.signature.task, manifest.signature.output_kind) == (
        20,
        "binary",
        "probabilities",
    )
    assert predict(manifest, tmp_path / "out")["score"]["shape"] == [3]


def test_p10_an_unknown_objective_gives_a_raw_score(public_cases, tmp_path):
    manifest = take_here(public_cases / "P10" / "model.txt", tmp_path / "out")
    assert (manifest.signature.output_kind, manifest.signature.task) == ("raw score", None)
    assert manifest.warnings[0].startswith("objective unknown, output is a raw score")
    assert "sigmoid" in manifest.warnings[0]
