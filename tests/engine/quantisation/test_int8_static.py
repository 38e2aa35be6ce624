import numpy as np
import onnx
import pytest

from engine.errors import DoesNotFit
from engine.graph.onnx_files import operators
from engine.quantisation.int8_static import Int8Static
from tests.model_zoo import onnx_artefact, onnx_net_artefact, sample_inputs, zipmap_artefact


def scales(artefact):
    """Scale and zero point tensors of the model, as (name, dtype, shape)."""
    tensors = onnx.load(artefact.folder / "model.onnx").graph.initializer
    return {t.name: onnx.numpy_helper.to_array(t) for t in tensors if t.name.endswith(("_scale", "_zero_point"))}


@pytest.mark.parametrize("method", ["minmax", "entropy", "percentile"])
def test_convolutions_are_quantised_with_every_method(apply, answers, convolutions, tmp_path, method):
    source = onnx_artefact(convolutions, tmp_path / "source")
    inputs = sample_inputs(source.manifest.signature, 40)
    notes, result = apply(Int8Static(method=method), source, inputs)
    assert notes["quantised"] == 3
    assert notes["calibration_rows"] == 40
    assert notes["activations"] == f"uint8, {method}"
    assert notes.get("calibration_bytes", 0) > 10_000 if method != "minmax" else "calibration_bytes" not in notes
    right, found = answers(source, inputs)["y"], answers(result, inputs)["y"]
    error = np.abs(found - right).max() / np.abs(right).max()
    assert 0 < error < (0.6 if method == "entropy" else 0.1)
    assert notes["bytes_before"] > notes["bytes_after"]


@pytest.mark.parametrize("name", ["tabular", "conv", "transformer", "two_outputs", "static"])
def test_nets_stay_close(apply, answers, tmp_path, name):
    source = onnx_net_artefact(name, tmp_path / "source")
    signature = source.manifest.signature
    n_rows = signature.fixed_batch or 40
    rows = {key: np.resize(v, (40, *v.shape[1:])) for key, v in sample_inputs(signature, n_rows).items()}
    notes, result = apply(Int8Static(), source, rows)
    assert notes["quantised"] >= 1
    inputs = sample_inputs(signature, n_rows)
    for key, right in answers(source, inputs).items():
        assert np.abs(answers(result, inputs)[key] - right).max() < 0.15 * max(1, np.abs(right).max())


def test_data_are_unsigned_and_weights_signed(apply, convolutions, tmp_path):
    source = onnx_artefact(convolutions, tmp_path / "source")
    _, result = apply(Int8Static(), source)
    found = scales(result)
    assert found["x_zero_point"].dtype == np.uint8
    assert found["w0_zero_point"].dtype == np.int8
    _, signed = apply(Int8Static(activations="int8"), source)
    assert scales(signed)["x_zero_point"].dtype == np.int8


@pytest.mark.parametrize("per_channel", [True, False])
def test_granularity_is_what_was_asked(apply, convolutions, tmp_path, per_channel):
    notes, result = apply(Int8Static(per_channel=per_channel), onnx_artefact(convolutions, tmp_path / "source"))
    assert scales(result)["w1_scale"].size == (16 if per_channel else 1)
    assert notes["weights"] == f"int8 {'per channel' if per_channel else 'per tensor'}"


def test_range_comes_from_the_rows_drawn_with_the_seed(apply, convolutions, tmp_path):
    source = onnx_artefact(convolutions, tmp_path / "source")
    rows = np.zeros((200, 3, 12, 12), np.float32)
    rows[:100] += np.linspace(1, 9, 100)[:, None, None, None].astype(np.float32)
    picked = {
        (seed, n): apply(Int8Static(max_rows=n), source, {"x": rows}, seed=seed)[1] for seed, n in [(0, 3), (1, 3)]
    }
    small = {key: float(scales(result)["x_scale"]) for key, result in picked.items()}
    assert small[0, 3] != small[1, 3]
    _, whole = apply(Int8Static(), source, {"x": rows})
    assert float(scales(whole)["x_scale"]) == pytest.approx(9 / 255, rel=1e-3)


@pytest.mark.parametrize("method", ["minmax", "percentile"])
def test_ranges_do_not_depend_on_the_chunks(apply, convolutions, tmp_path, monkeypatch, method):
    """Collecting in chunks must see all rows: ONNX Runtime's own limit (CalibMaxIntermediateOutputs) drops most."""
    source = onnx_artefact(convolutions, tmp_path / "source")
    rows = sample_inputs(source.manifest.signature, 64)
    rows["x"][0] *= 30
    whole = scales(apply(Int8Static(method=method), source, rows)[1])
    monkeypatch.setattr("engine.graph.calibration.CHUNK_BYTES", 1)
    if method == "minmax":
        monkeypatch.setattr("engine.quantisation.int8_static.activation_bytes", lambda *_: 1e3)
    notes, result = apply(Int8Static(method=method), source, rows)
    assert notes["calibration_rows"] == 64
    chunked = scales(result)
    for name in ("x_scale", "r0_scale"):
        np.testing.assert_allclose(chunked[name], whole[name], rtol=0.02 if method == "percentile" else 1e-6)


def test_without_rows_or_operators_it_refuses(apply, convolutions, tmp_path):
    with pytest.raises(DoesNotFit, match="needs calibration rows"):
        apply(Int8Static(), onnx_artefact(convolutions, tmp_path / "a"), {"x": np.zeros((0, 3, 12, 12), np.float32)})
    with pytest.raises(DoesNotFit, match="no MatMul/Conv inside"):
        apply(Int8Static(), zipmap_artefact(tmp_path / "b"))


def test_all_operators_means_more_than_the_core(apply, tmp_path):
    source = onnx_net_artefact("transformer", tmp_path / "source")
    pairs = [
        operators(onnx.load(apply(Int8Static(operators=which), source)[1].folder / "model.onnx"))["QuantizeLinear"]
        for which in ("core", "all")
    ]
    assert pairs[1] > pairs[0]
