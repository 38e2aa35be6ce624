import numpy as np
import pytest
import torch

from engine.errors import DoesNotFit
from engine.export.torch_to_onnx import TorchToOnnx
from engine.plugin import Artefact, Context, Split
from engine.runtimes.onnxruntime_cpu import OnnxruntimeCpu
from engine.runtimes.torch_eager import TorchEager
from tests.model_zoo import net_artefact, sample_inputs

NOTHING = Context(data_id="0", train=Split({}), calibration=Split({}))


def convert(artefact, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    notes = TorchToOnnx().apply(artefact, out, NOTHING)
    return notes, Artefact(artefact.manifest.model_copy(update={"format": "onnx"}), out)


def exported(module, example, tmp_path, **kwargs):
    """An artefact around any module; its signature lists what the program itself names."""
    program = torch.export.export(module.eval(), example, **kwargs)
    artefact = net_artefact("tabular", tmp_path / "source")
    torch.export.save(program, artefact.folder / "model.pt2")
    spec = artefact.manifest.signature.inputs[0].model_copy(update={"name": program.graph_signature.user_inputs[0]})
    signature = artefact.manifest.signature.model_copy(update={"inputs": (spec,)})
    return Artefact(artefact.manifest.model_copy(update={"signature": signature}), artefact.folder)


@pytest.mark.parametrize("name", ["tabular", "conv", "transformer", "two_outputs"])
def test_batch_stays_free_and_answers_stay(name, tmp_path):
    source = net_artefact(name, tmp_path / "source")
    notes, result = convert(source, tmp_path)
    assert "remark" not in notes
    assert notes["nodes"] > 0
    with TorchEager().open(source) as right, OnnxruntimeCpu().open(result) as found:
        for n_rows in (1, 2, 33):
            inputs = sample_inputs(source.manifest.signature, n_rows)
            expected = right(inputs)
            for key, value in found(inputs).items():
                assert value.shape == expected[key].shape
                np.testing.assert_allclose(value, expected[key], atol=1e-5)


def test_fixed_batch_stays_fixed_and_is_said(tmp_path):
    notes, result = convert(net_artefact("static", tmp_path / "source"), tmp_path)
    assert "fixed at 4" in notes["remark"]
    with OnnxruntimeCpu().open(result) as predict:
        assert predict(sample_inputs(result.manifest.signature))["output_0"].shape == (4, 3)


def test_operator_without_counterpart_is_named(tmp_path):
    class Decompose(torch.nn.Module):
        def forward(self, x):
            return torch.geqrf(x)[0]

    artefact = exported(Decompose(), (torch.randn(4, 6),), tmp_path)
    with pytest.raises(DoesNotFit, match=r"cannot write this program as ONNX: .*geqrf"):
        convert(artefact, tmp_path)
    assert not list((tmp_path / "out").iterdir())


def test_an_output_that_is_an_input(tmp_path):
    class Through(torch.nn.Module):
        def forward(self, x):
            return x

    artefact = exported(Through(), (torch.randn(4, 6),), tmp_path)
    _, result = convert(artefact, tmp_path)
    x = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    with OnnxruntimeCpu().open(result) as predict:
        np.testing.assert_array_equal(predict({artefact.manifest.signature.inputs[0].name: x})["output_0"], x)
