"""Weights and arithmetic in 16-bit floating point."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.environment import cpu_flags
from engine.errors import DoesNotFit
from engine.graph.kind import HALF, kind_of, unit
from engine.graph.onnx_files import check_result, folder_bytes, is_large, load_model, save_model, weights
from engine.graph.onnx_quantise import NOTHING_INSIDE, why_nothing_inside
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest

if TYPE_CHECKING:
    from onnx import ModelProto

LARGEST = 65504.0
HALF_FLAGS = {"asimdhp", "fphp"}  # ARM; ONNX Runtime has no FP16 kernels for x86


class Float16(Lever):
    """Stores the weights as 16-bit floats; inputs and outputs keep their types.

    Half the size and nearly no loss of accuracy. Helps where the size counts, and the speed of GPUs and some ARM
    processors. Hurts the speed of most CPUs a little, because the runtime computes in 32 bits and converts. Source:
    Micikevicius et al. (2018), Mixed Precision Training; the converter is ONNX Runtime's.
    """

    title = "FP16"
    accepts = frozenset({"onnx"})
    libraries = ("onnx", "onnxruntime")

    @classmethod
    def fits(cls, manifest: Manifest, machine: Mapping[str, Any]) -> str | None:
        """As every plug-in; and a file without stored weights has nothing to halve."""
        return super().fits(manifest, machine) or why_nothing_inside(manifest)

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """No x86 processor has kernels for it here; transformers pay for the conversions."""
        if unit(machine, HALF):
            return Prediction("Worth a try", "this processor computes in 16 bits, though not every operator can")
        if kind_of(manifest) == "transformer":
            return Prediction("Likely slower", "this processor computes in 32 bits; transformers lost up to 6 %")
        return Prediction("No difference", "this processor computes in 32 bits and converts: half the size, no speed")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write the converted model.onnx. Raises DoesNotFit when there is nothing to convert or it does not load.

        ONNX Runtime's converter, not onnxconverter-common's: that one turns a Cast to float32 into one to float16
        and leaves its type behind (onnxconverter-common issue 320).
        """
        from onnxruntime.transformers.float16 import convert_float_to_float16
        from onnxruntime.transformers.onnx_model import OnnxModel

        model = load_model(source.folder)
        n_large = _out_of_range(model)
        n_half = _n_half(model)
        context.progress(0.2, "converting")
        model = convert_float_to_float16(model, keep_io_types=True, disable_shape_infer=is_large(source.folder))
        n_half = _n_half(model) - n_half
        if n_half == 0:
            raise DoesNotFit(NOTHING_INSIDE)
        OnnxModel(model).topological_sort()
        save_model(model, out)
        context.progress(0.8, "checking that it loads")
        check_result(out, source.manifest.signature)
        notes: dict[str, Any] = {
            "converted": n_half,
            "bytes_before": folder_bytes(source.folder),
            "bytes_after": folder_bytes(out),
        }
        if not HALF_FLAGS & cpu_flags():
            notes["computed_in"] = "FP32 on this CPU: the size is halved, the speed is not"
        if n_large:
            notes["remark"] = f"{n_large:,} weights were beyond ±65,504 and are cut to it: check the quality"
        return notes


def _n_half(model: ModelProto) -> int:
    from onnx import TensorProto

    return sum(tensor.data_type == TensorProto.FLOAT16 for tensor in weights(model))


def _out_of_range(model: ModelProto) -> int:
    """Finite float32 weights that float16 cannot hold."""
    import numpy as np
    from onnx import TensorProto, numpy_helper

    n_large = 0
    for tensor in weights(model):
        if tensor.data_type == TensorProto.FLOAT:
            values = numpy_helper.to_array(tensor)
            n_large += int((np.isfinite(values) & (np.abs(values) > LARGEST)).sum())
    return n_large
