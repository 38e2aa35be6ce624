"""Profiles through the confined child, on real files."""

import json

import numpy as np
import pytest

from engine.operator_profile import operator_profile
from engine.records import Choice, Workload
from tests.model_zoo import net_artefact, onnx_net_artefact, sample_inputs


def evalset(folder, signature):
    place = folder / "evalset" / "selection"
    place.mkdir(parents=True)
    inputs = sample_inputs(signature)
    for at, values in enumerate(inputs.values()):
        np.save(place / f"input_{at}.npy", values)
    (place / "inputs.json").write_text(json.dumps(list(inputs)))
    return place.parent


@pytest.fixture
def before(tmp_path):
    return net_artefact("conv", tmp_path / "before")


@pytest.fixture
def after(tmp_path):
    return onnx_net_artefact("conv", tmp_path / "after")


def test_before_beside_after(before, after, tmp_path):
    arms = {"baseline": (before, Choice(name="torch_eager")), "variant": (after, Choice(name="onnxruntime_cpu"))}
    found = operator_profile(arms, evalset(tmp_path, before.manifest.signature), Workload(batch_size=8), 100.0)
    assert any("conv" in cost.op for cost in found.before)
    assert any("Conv" in cost.op for cost in found.after)
    assert (found.batch_size, found.n_calls) == (8, 15)
    assert found.reading.startswith("Conv ")
    assert list(tmp_path.rglob("*.json")) == [tmp_path / "evalset" / "selection" / "inputs.json"]


def test_the_runtime_keeps_its_parameters(after, tmp_path):
    place = evalset(tmp_path, after.manifest.signature)
    plain = Choice(name="onnxruntime_cpu", params={"optimisation": "off"})
    found = operator_profile({"baseline": (after, plain)}, place, Workload(), 1.0)
    assert "Relu" in {cost.op for cost in found.before}
    assert found.after == ()
    assert found.n_calls == 50
    assert found.reading.startswith("The time goes to")


def test_a_profile_that_fails_says_why_and_fails_nothing(before, after, tmp_path):
    place = evalset(tmp_path, before.manifest.signature)
    (after.folder / "model.onnx").chmod(0o644)
    (after.folder / "model.onnx").write_bytes(b"no model")
    arms = {"baseline": (before, Choice(name="torch_eager")), "variant": (after, Choice(name="onnxruntime_cpu"))}
    found = operator_profile(arms, place, Workload(), 5000.0)
    assert found.before
    assert found.after == ()
    assert found.n_calls == 3
    assert "variant could not be profiled: ONNX Runtime" in found.reading


def test_a_runtime_without_a_profiler_says_so(after, tmp_path):
    place = evalset(tmp_path, after.manifest.signature)
    found = operator_profile({"baseline": (after, Choice(name="openvino_cpu"))}, place, Workload(), 1.0)
    assert found.reading == "the runtime openvino_cpu has no operator profiler"
