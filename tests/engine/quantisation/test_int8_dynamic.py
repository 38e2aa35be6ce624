import numpy as np
import onnx
import pytest
from onnx import helper

from engine.errors import DoesNotFit
from engine.export.onnx_optimise import OnnxOptimise
from engine.graph.onnx_files import operators
from engine.graph.onnx_quantise import reduce_range
from engine.quantisation.int8_dynamic import Int8Dynamic
from tests.model_zoo import graph, onnx_artefact, onnx_net_artefact, sample_inputs, zipmap_artefact


def inside(artefact):
    return operators(onnx.load(artefact.folder / "model.onnx"))


def test_dense_layers_become_integers_and_the_notes_count_them(apply, answers, tmp_path):
    source = onnx_net_artefact("transformer", tmp_path / "source")
    notes, result = apply(Int8Dynamic(), source)
    assert notes["quantised"] == inside(result)["MatMulInteger"] == 4
    assert notes["weights"] == "int8 per channel"
    assert notes["bytes_before"] == (source.folder / "model.onnx").stat().st_size
    assert notes["bytes_after"] == (result.folder / "model.onnx").stat().st_size
    inputs = sample_inputs(source.manifest.signature)
    right, found = answers(source, inputs)["output_0"], answers(result, inputs)["output_0"]
    assert 0 < np.abs(found - right).max() < 0.1


def test_per_channel_survives_unequal_columns_where_per_tensor_collapses(apply, answers, unequal_columns, tmp_path):
    source = onnx_artefact(unequal_columns, tmp_path / "source")
    x = {"x": np.random.default_rng(2).normal(size=(400, 32)).astype(np.float32)}
    right = answers(source, x)["y"].argmax(1)
    agreement = {}
    for per_channel in (False, True):
        notes, result = apply(Int8Dynamic(per_channel=per_channel), source)
        agreement[notes["weights"]] = (answers(result, x)["y"].argmax(1) == right).mean()
    assert agreement["int8 per channel"] > 0.97
    assert agreement["int8 per tensor"] < 0.8


def test_convolutions_are_left_alone_unless_asked_and_then_warned_about(apply, convolutions, tmp_path):
    source = onnx_artefact(convolutions, tmp_path / "source")
    with pytest.raises(DoesNotFit, match="only convolutions: use INT8 static"):
        apply(Int8Dynamic(), source)
    notes, result = apply(Int8Dynamic(include_conv=True), source)
    assert notes["quantised"] == inside(result)["ConvInteger"] == 3
    assert "slower" in notes["remark"]


def test_mixed_net_keeps_its_convolutions(apply, tmp_path):
    notes, result = apply(Int8Dynamic(), onnx_net_artefact("conv", tmp_path / "source"))
    assert notes["quantised"] == 1
    assert inside(result)["Conv"] == 1
    assert not inside(result)["ConvInteger"]


def test_nothing_inside_is_said_before_and_while_applying(apply, tmp_path):
    source = zipmap_artefact(tmp_path / "source")
    manifest = source.manifest.model_copy(update={"n_parameters": 0})
    assert "no MatMul/Conv inside" in Int8Dynamic.fits(manifest, {})
    assert Int8Dynamic.fits(source.manifest, {}) is None
    with pytest.raises(DoesNotFit, match="no MatMul/Conv inside"):
        apply(Int8Dynamic(), source)


def test_a_matmul_without_weights_is_no_silent_copy(apply, tmp_path):
    nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]), helper.make_node("MatMul", ["x", "t"], ["y"])]
    model = graph(nodes, [("x", "float32", ["N", 3])], [("y", "float32", ["N", "N"])])
    with pytest.raises(DoesNotFit, match="changed no operator"):
        apply(Int8Dynamic(), onnx_artefact(model, tmp_path / "source"))


def test_operators_fused_before_are_left_alone_and_said(apply, tmp_path):
    source = onnx_net_artefact("tabular", tmp_path / "source")
    _, fused = apply(OnnxOptimise(level="extended"), source)
    assert inside(fused)["FusedGemm"] == 1
    notes, result = apply(Int8Dynamic(), fused)
    assert notes["quantised"] == 1
    assert notes["left_alone"].startswith("1 fused operators")
    assert inside(result)["FusedGemm"] == 1
    assert "left_alone" not in apply(Int8Dynamic(), source)[0]


def test_external_data_is_read(apply, answers, unequal_columns, tmp_path):
    source = onnx_artefact(unequal_columns, tmp_path / "source")
    path = source.folder / "model.onnx"
    onnx.save_model(unequal_columns, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    _, result = apply(Int8Dynamic(), source)
    assert [p.name for p in result.folder.iterdir()] == ["model.onnx"]
    assert np.isfinite(answers(result, {"x": np.ones((1, 32), np.float32)})["y"]).all()


@pytest.mark.parametrize(
    ("choice", "flags", "expected"),
    [
        ("auto", {"avx2", "avx512f"}, True),
        ("auto", {"avx2", "avx512f", "avx512_vnni"}, False),
        ("auto", {"avx2", "avx_vnni"}, False),
        ("auto", {"asimddp"}, False),
        ("on", {"avx512_vnni", "avx2"}, True),
        ("off", {"avx2"}, False),
    ],
)
def test_seven_bits_where_sums_would_saturate(choice, flags, expected):
    assert reduce_range(choice, flags) is expected


@pytest.mark.parametrize(("choice", "bits"), [("on", 7), ("off", 8)])
def test_the_bits_used_are_those_noted(apply, unequal_columns, tmp_path, choice, bits):
    notes, result = apply(Int8Dynamic(reduce_range=choice), onnx_artefact(unequal_columns, tmp_path / "source"))
    assert notes["weight_bits"] == bits
    tensors = onnx.load(result.folder / "model.onnx").graph.initializer
    stored = [onnx.numpy_helper.to_array(t) for t in tensors if t.data_type == onnx.TensorProto.INT8]
    largest = max(int(np.abs(values.astype(int)).max()) for values in stored)
    assert (largest <= 64) == (bits == 7)
