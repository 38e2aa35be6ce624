import pytest

from engine.profiling.profiler import Task
from engine.profiling.torch_eager import operators
from engine.runtimes.torch_eager import TorchEager
from tests.model_zoo import net_artefact, sample_inputs


def test_operators_of_a_small_net(tmp_path):
    artefact = net_artefact("tabular", tmp_path / "model")
    inputs = sample_inputs(artefact.manifest.signature)
    found = {
        cost.op: cost
        for cost in operators(
            TorchEager(), Task(artefact=artefact, inputs=lambda call: inputs, n_calls=4, threads=1, folder=tmp_path)
        )
    }
    assert found["aten::addmm"].n == 2  # two linear layers
    assert found["aten::addmm"].total_ms > 0
    assert "whetstone.call" not in found
    assert sum(cost.share for cost in found.values()) == pytest.approx(1)
