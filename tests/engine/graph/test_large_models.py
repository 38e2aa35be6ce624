"""Models beyond the size of one protobuf file, shown with the limit lowered to 500 bytes."""

import numpy as np
import pytest

from engine.graph import onnx_files
from engine.plugin import Artefact, Context, Split, levers
from engine.runtimes.onnxruntime_cpu import OnnxruntimeCpu
from tests.model_zoo import net_artefact, onnx_net_artefact, sample_inputs


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("export.torch_to_onnx", net_artefact),
        ("export.onnx_optimise", onnx_net_artefact),
        ("quantisation.int8_dynamic", onnx_net_artefact),
        ("quantisation.int8_static", onnx_net_artefact),
        ("quantisation.float16", onnx_net_artefact),
    ],
)
def test_every_lever_writes_weights_beside_the_file(name, make, tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_files, "INLINE_BYTES", 500)
    source = make("transformer", tmp_path / "source")
    inputs = sample_inputs(source.manifest.signature)
    rows = Split(inputs)
    out = tmp_path / "out"
    out.mkdir()
    levers()[name]().apply(source, out, Context(data_id="0", train=rows, calibration=rows))
    assert {path.name for path in out.iterdir()} == {"model.onnx", "model.onnx.data"}
    plain = onnx_net_artefact("transformer", tmp_path / "plain")
    with OnnxruntimeCpu().open(Artefact(plain.manifest, out)) as found, OnnxruntimeCpu().open(plain) as right:
        assert np.abs(found(inputs)["output_0"] - right(inputs)["output_0"]).max() < 0.1
