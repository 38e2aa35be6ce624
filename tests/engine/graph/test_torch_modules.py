"""A program rebuilt as modules answers bit for bit as before, and can be trained."""

import numpy as np
import pytest
import torch
from torch import nn

from engine.graph import torch_program, torchscript_program
from engine.graph.torch_modules import layers, trainable
from tests.model_zoo import NETS, net, net_artefact, sample_inputs, script_artefact


def answers(module, inputs):
    with torch.no_grad():
        return [value.numpy() for value in module(*(torch.from_numpy(value.copy()) for value in inputs.values()))]


@pytest.mark.parametrize("name", NETS)
def test_answers_stay_bit_for_bit_at_several_batches(name, tmp_path):
    artefact = net_artefact(name, tmp_path)
    module = trainable(torch_program.load(tmp_path))
    call = torch_program.caller(torch_program.load(tmp_path))
    fixed = artefact.manifest.signature.fixed_batch
    for n_rows in (1, 5, 32) if fixed is None else (fixed,):
        inputs = sample_inputs(artefact.manifest.signature, n_rows)
        with torch.no_grad():
            right = call({key: torch.from_numpy(value.copy()) for key, value in inputs.items()})
        for a, b in zip(answers(module, inputs), right, strict=True):
            np.testing.assert_array_equal(a, b.numpy())


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("tabular", ["Linear", "Linear"]),
        ("conv", ["Conv2d", "BatchNorm2d", "Linear"]),
        ("transformer", ["Linear", "Linear", "Linear", "LayerNorm", "Linear"]),
        ("two_outputs", ["Linear", "Linear"]),
    ],
)
def test_layers_are_modules_again(name, kinds, tmp_path):
    net_artefact(name, tmp_path)
    module = trainable(torch_program.load(tmp_path))
    assert [type(layer).__name__ for layer in layers(module).values()] == kinds
    assert sum(p.numel() for p in module.parameters()) == sum(p.numel() for p in net(name)[0].parameters())


def test_it_learns(tmp_path):
    artefact = net_artefact("conv", tmp_path)
    module = trainable(torch_program.load(tmp_path))
    images = torch.from_numpy(sample_inputs(artefact.manifest.signature, 32)["image"])
    labels = torch.arange(32) % 10
    module.train()
    optimiser = torch.optim.Adam(module.parameters(), lr=0.02)
    losses = []
    for _ in range(8):
        loss = nn.functional.cross_entropy(module(images)[0], labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 0.05
    norm = next(layer for layer in layers(module).values() if isinstance(layer, nn.BatchNorm2d))
    assert norm.training
    module.eval()
    assert not norm.training


def test_strange_layers(tmp_path):
    class Strange(nn.Module):
        def __init__(self):
            super().__init__()
            self.depthwise = nn.Conv1d(4, 8, 3, stride=2, padding=1, groups=4, bias=False)
            self.norm = nn.BatchNorm1d(8, eps=1e-3)
            self.up = nn.ConvTranspose1d(8, 4, 2)
            self.gain = nn.Parameter(torch.full((4,), 2.0))
            self.last = nn.LayerNorm(4, elementwise_affine=False)

        def forward(self, x):
            return self.last(self.up(self.norm(self.depthwise(x))).mean(2) * self.gain)

    example = torch.randn(3, 4, 12)
    program = torch.export.export(Strange().eval(), (example,), dynamic_shapes=({0: torch.export.Dim("b")},))
    module = trainable(program)
    with torch.no_grad():
        assert torch.equal(module(example)[0], program.module()(example))
    assert [type(layer).__name__ for layer in layers(module).values()] == ["Conv1d", "BatchNorm1d"]
    assert "gain" in dict(module.named_parameters())


def test_a_torchscript_module_is_rebuilt_too(tmp_path):
    artefact = script_artefact("ts_conv", tmp_path / "ts")
    script = torchscript_program.load(artefact.folder)
    module = trainable(torchscript_program.as_program(script, artefact.manifest.signature))
    inputs = sample_inputs(artefact.manifest.signature, 5)
    with torch.no_grad():
        right = script(torch.from_numpy(inputs["image"]))
    np.testing.assert_array_equal(answers(module, inputs)[0], right.numpy())
    assert [type(layer).__name__ for layer in layers(module).values()] == ["Conv2d", "BatchNorm2d", "Linear"]
    assert all(parameter.requires_grad for parameter in module.parameters())
