"""Every hostile model file ends as its manifest expects, its payload never runs, and its controls are taken."""

import json
import os
import pickle

import numpy as np
import pytest

from engine.errors import BadModel, Contained, WhetstoneError
from tests.engine.formats.taking import predict, sentence, take_confined, take_here

pytestmark = pytest.mark.usefixtures("canary_stays_empty")
REFUSED_BY_KIND = {
    "control_npz": "NPZ",
    "control_csv": "CSV",
}


def entries(hostile_dir, *kinds):
    manifest = json.loads((hostile_dir / "manifest.json").read_text())
    return {entry["file"].split("/")[0]: entry for entry in manifest if entry["kind"] in kinds}


def ending(path, out) -> tuple[str, str]:
    """accepted, refused or contained, and what was said or answered; as intake and a first call go."""
    try:
        manifest = take_confined(path, out)
    except BadModel as error:
        return "refused", sentence(error)
    except Contained as error:
        return "contained", sentence(error)
    try:
        return "accepted", json.dumps(predict(manifest, out))
    except WhetstoneError as error:
        return "contained" if isinstance(error, Contained) else "refused", sentence(error)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pt2", "torchscript", "pickle", "onnx", "lightgbm", "control"])
def test_files_end_as_the_manifest_expects(kind, hostile_dir, tmp_path, subtests):
    cases = entries(hostile_dir, kind)
    assert cases
    for case, entry in cases.items():
        out = tmp_path / case
        with subtests.test(case):
            found, said = ending(hostile_dir / entry["file"], out)
            if case in REFUSED_BY_KIND:
                assert (found, REFUSED_BY_KIND[case] in said) == ("refused", True), said
            elif case == "pt2_sample_inputs":
                assert found in ("refused", "accepted"), said  # harmless once it is rewritten without them
            elif entry["expected"] == "contained":
                assert found in ("refused", "contained"), said
            else:
                assert found == entry["expected"], said
            assert "SECRET" not in said
            assert b"SECRET" not in b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())


def test_data_files_offered_as_models_are_named(hostile_dir, subtests, tmp_path):
    for case, entry in entries(hostile_dir, "data").items():
        with subtests.test(case):
            with pytest.raises(BadModel) as caught:
                take_here(hostile_dir / entry["file"], tmp_path / case)
            sentence(caught.value)


def test_crlf_answers_as_the_original(hostile_dir, tmp_path):
    import lightgbm

    rows = np.random.default_rng(0).normal(size=(500, 4))
    original = lightgbm.Booster(model_file=hostile_dir / "control_lightgbm" / "model.txt")
    take_here(hostile_dir / "lgb_crlf" / "model.txt", tmp_path / "out")
    taken = lightgbm.Booster(model_file=tmp_path / "out" / "model.txt")
    assert np.array_equal(taken.predict(rows), original.predict(rows))
    assert b"\r" not in (tmp_path / "out" / "model.txt").read_bytes()


def test_rewritten_programs_answer_as_the_original(hostile_dir, tmp_path):
    import torch

    inputs = {
        "control_pt2_mlp": (torch.randn(5, 6),),
        "control_pt2_conv": (torch.randn(5, 1, 12, 12),),
        "control_pt2_transformer": (torch.randint(0, 50, (5, 7)), torch.ones(5, 7, dtype=torch.long)),
        "pt2_sample_inputs": (torch.randn(5, 6),),
    }
    for case, values in inputs.items():
        take_here(hostile_dir / case / "model.pt2", tmp_path / case)
        original = "control_pt2_mlp" if case == "pt2_sample_inputs" else case
        right = torch.export.load(hostile_dir / original / "model.pt2").module()(*values)
        assert torch.equal(torch.export.load(tmp_path / case / "model.pt2").module()(*values), right)


def test_the_same_program_gives_the_same_bytes(hostile_dir, tmp_path):
    for out in ("a", "b"):
        take_here(hostile_dir / "control_pt2_mlp" / "model.pt2", tmp_path / out)
    assert (tmp_path / "a" / "model.pt2").read_bytes() == (tmp_path / "b" / "model.pt2").read_bytes()
    take_here(tmp_path / "a" / "model.pt2", tmp_path / "c")
    assert (tmp_path / "c" / "model.pt2").read_bytes() == (tmp_path / "a" / "model.pt2").read_bytes()


def test_markup_stays_text(hostile_dir, tmp_path):
    manifest = take_confined(hostile_dir / "lgb_markup_names" / "model.txt", tmp_path / "out")
    assert manifest.signature.inputs[0].columns == ("<script>alert(1)</script>", "**b**", "=1+1", "d")
    manifest = take_confined(hostile_dir / "onnx_markup" / "<b>model<b>.onnx", tmp_path / "onnx")
    assert (manifest.signature.inputs[0].name, manifest.signature.outputs[0].name) == ("<b>x</b>", "**y**")


def test_a_payload_that_runs_is_seen(hostile_dir):
    """The empty canary folder is evidence: the payload, unpickled on purpose under another name, leaves a file."""
    payload = (hostile_dir / "pickle_pkl" / "model.pkl").read_bytes()
    assert os.fsencode(hostile_dir) in payload
    pickle.loads(payload.replace(b"pickle_pkl", b"on_purpose"))["state"][1].close()
    created = hostile_dir / "canary" / "on_purpose"
    assert created.exists()
    created.unlink()
