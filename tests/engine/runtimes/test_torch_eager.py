import numpy as np
import pytest

from engine.errors import Mismatch
from engine.runtimes.torch_eager import TorchEager
from tests.model_zoo import NETS, net, net_artefact, sample_inputs


@pytest.mark.parametrize("name", NETS)
def test_outputs_are_the_modules_and_read_only_rows_stay_untouched(name, tmp_path):
    import torch

    artefact = net_artefact(name, tmp_path)
    signature = artefact.manifest.signature
    inputs = sample_inputs(signature)
    before = {key: values.copy() for key, values in inputs.items()}
    for values in inputs.values():
        values.flags.writeable = False
    with TorchEager().open(artefact, threads=1) as predict:
        out = predict(inputs)
        assert torch.get_num_threads() == 1
    with torch.no_grad():
        expected = net(name)[0](*[torch.from_numpy(before[spec.name]) for spec in signature.inputs])
    expected = list(expected.values()) if isinstance(expected, dict) else [expected]
    assert list(out) == [spec.name for spec in signature.outputs]
    for value, tensor in zip(out.values(), expected, strict=True):
        np.testing.assert_allclose(value, tensor.numpy(), atol=1e-6)
    for key, values in inputs.items():
        np.testing.assert_array_equal(values, before[key])


def test_keyword_arguments_and_bfloat16_outputs(tmp_path):
    import torch

    class Scaled(torch.nn.Module):
        def forward(self, x, *, bias=None):
            return (x * 4 + bias).to(torch.bfloat16)

    program = torch.export.export(Scaled(), (torch.ones(2, 3),), {"bias": torch.ones(3)})
    artefact = net_artefact("tabular", tmp_path)
    torch.export.save(program, tmp_path / "model.pt2")
    signature = artefact.manifest.signature
    spec = signature.inputs[0]
    signature = signature.model_copy(
        update={
            "inputs": (
                spec.model_copy(update={"name": "x", "shape": (2, 3)}),
                spec.model_copy(update={"name": "bias", "shape": (3,)}),
            )
        }
    )
    artefact = type(artefact)(artefact.manifest.model_copy(update={"signature": signature}), tmp_path)
    with TorchEager().open(artefact) as predict:
        out = predict({"x": np.full((2, 3), 2, np.float32), "bias": np.full(3, 0.5, np.float32)})
    assert out["output_0"].dtype == np.float32
    np.testing.assert_array_equal(out["output_0"], np.full((2, 3), 8.5))


def test_rows_the_model_cannot_take_are_a_message(tmp_path):
    with TorchEager().open(net_artefact("transformer", tmp_path)) as predict:
        mask = np.ones((2, 7), np.int64)
        with pytest.raises(Mismatch, match="PyTorch stopped on these rows: index out of range"):
            predict({"ids": np.full((2, 7), 50), "mask": mask})
        with pytest.raises(Mismatch, match=r"shape \(2, 6\)"):
            predict({"ids": np.zeros((2, 6), np.int64), "mask": mask})
