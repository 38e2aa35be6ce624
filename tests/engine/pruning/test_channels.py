"""Channels go, answers come back with a little training, and what cannot shrink is named."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from engine.errors import DoesNotFit
from engine.graph.teaching import lesson, loss_of, measure_statistics, teach
from engine.graph.torch_modules import layers, trainable
from engine.graph.torch_prune import prune_channels
from engine.plugin import Context, Split, levers, make, runtimes
from engine.pruning.channels import Channels
from tests.model_zoo import net_artefact


@pytest.fixture(autouse=True)
def _one_thread():
    """Threads that wait for each other cost tiny nets a hundred times their arithmetic on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        self.body = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        self.head = nn.Linear(16 * 4, 5)

    def forward(self, x):
        x = self.stem(x)
        x = nn.functional.adaptive_avg_pool2d(x + self.body(x), 2)
        return self.head(x.view(x.shape[0], 64))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(16, 16) for _ in range(3))
        self.first, self.second = nn.Linear(16, 64), nn.Linear(64, 16)
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 3)

    def forward(self, x):
        parts = [layer(x)[:, None] for layer in (self.query, self.key, self.value)]
        x = x + nn.functional.scaled_dot_product_attention(*parts)[:, 0]
        x = self.norm(x + self.second(nn.functional.gelu(self.first(x))))
        return self.head(x.mean(1))


def rebuilt(module, example):
    torch.manual_seed(0)
    for layer in module.modules():  # statistics as after training
        if isinstance(layer, nn.BatchNorm2d):
            layer.running_mean.normal_(std=0.1)
            layer.running_var.uniform_(0.5, 1.5)
    program = torch.export.export(module.eval(), (example,), dynamic_shapes=({0: torch.export.Dim("b")},))
    return trainable(program)


def widths(module):
    return [tuple(layer.weight.shape[:2]) for layer in layers(module).values() if layer.weight.ndim > 1]


def test_convolutions_with_a_residual_sum_and_a_view_shrink_together():
    example = torch.randn(4, 1, 8, 8)
    module = rebuilt(Residual(), example)
    pruned = prune_channels(module, [example], 0.5, 4, 2)
    assert widths(module) == [(8, 1), (8, 8), (5, 32)]
    assert (pruned.n_layers, pruned.channels_before, pruned.channels_after) == (2, 32, 16)
    assert module(torch.randn(3, 1, 8, 8))[0].shape == (3, 5)


def test_training_brings_the_answers_back():
    rows = {"x": np.random.default_rng(0).normal(size=(320, 1, 8, 8)).astype(np.float32)}
    teacher = rebuilt(Residual(), torch.randn(4, 1, 8, 8))
    net = copy.deepcopy(teacher)
    made = lesson(teacher, rows, ["x"], 320, 32, seed=0)
    prune_channels(net, [made.inputs[0][:2]], 0.5, 4, 2)
    with torch.no_grad():
        before = loss_of(net(*made.inputs), made.answers, [None]).item()
    assert measure_statistics(net, made, 32) == 2
    settings = {"epochs": 8, "rate": 5e-3, "temperature": 1.0, "batch": 32, "seed": 0}
    teach(net, made, [None], progress=lambda *_: None, **settings)
    with torch.no_grad():
        assert loss_of(net(*made.inputs), made.answers, [None]).item() < 0.5 * before


def test_only_the_feed_forward_part_of_a_transformer_shrinks():
    example = torch.randn(3, 6, 16)
    module = rebuilt(Encoder(), example)
    prune_channels(module, [example], 0.75, 8, 2)
    assert widths(module) == [(16, 16)] * 3 + [(16, 16), (16, 16), (3, 16)]
    assert module(example)[0].shape == (3, 3)


def test_the_weakest_channels_are_those_that_go():
    example = torch.randn(3, 4)
    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    with torch.no_grad():
        net[0].weight[8:] *= 1e-3
        net[2].weight[:, 8:] *= 1e-3
        net[0].bias[8:] = 0
    module = rebuilt(net, example)
    prune_channels(module, [example], 0.5, 4, 2)
    with torch.no_grad():
        torch.testing.assert_close(module(example)[0], net(example), atol=1e-4, rtol=1e-3)


def test_channels_that_are_outputs_stay_and_the_lever_says_so(tmp_path):
    source = net_artefact("two_outputs", tmp_path)
    rows = Split(inputs={"left": np.ones((40, 2), np.float32), "right": np.ones((40, 4), np.float32)})
    with pytest.raises(DoesNotFit, match="no channel was removed"):
        Channels(epochs=0).apply(source, tmp_path, Context(data_id="0", train=rows, calibration=rows))


@pytest.mark.slow
def test_the_lever_writes_a_smaller_net_and_int8_goes_on_from_it(tmp_path):
    source = net_artefact("conv", tmp_path / "source")
    rows = Split(inputs={"image": np.random.default_rng(0).normal(size=(200, 1, 8, 8)).astype(np.float32)})
    context = Context(data_id="0", train=rows, calibration=rows)
    (tmp_path / "a").mkdir()
    notes = Channels(rounds=2, epochs=2).apply(source, tmp_path / "a", context)
    assert notes["parameters_after"] < notes["parameters_before"]
    assert (notes["channels_kept_fraction"], notes["statistics_measured"]) == (0.5, 1)
    smaller = type(source)(source.manifest.model_copy(update={"format": "onnx"}), tmp_path / "a")
    (tmp_path / "b").mkdir()
    levers()["quantisation.int8_static"]().apply(smaller, tmp_path / "b", context)
    quantised = type(source)(smaller.manifest, tmp_path / "b")
    with make(runtimes(), "onnxruntime_cpu", {}).open(quantised) as predict:
        assert np.isfinite(predict({"image": rows.inputs["image"][:5]})["output_0"]).all()
