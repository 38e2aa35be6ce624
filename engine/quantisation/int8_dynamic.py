"""Weights in 8 bits, activations converted on the fly."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from engine.environment import cpu_flags
from engine.graph.kind import EIGHT_BIT, is_small, kind_of, unit
from engine.graph.onnx_files import is_large, load_model
from engine.graph.onnx_quantise import ReduceRange, count_integer, finish, prepare, reduce_range, why_nothing_inside
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest


class Int8Dynamic(Lever):
    """Stores the weights of MatMul and Gemm as 8-bit integers and rounds activations during each call.

    Needs no data. Helps transformers and wide dense layers (2 to 5 times, a quarter of the size). Hurts convolutions,
    which have no fast kernel for it, and small nets, where the rounding costs more than it saves. One badly scaled
    input column or weight column can cost much accuracy: compare per channel and per tensor. Source: Jacob et al.
    (2018), Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference.
    """

    title = "INT8, dynamic"
    accepts = frozenset({"onnx"})
    libraries = ("onnx", "onnxruntime")
    machine_bound = True  # 7 or 8 bits, by what the processor can add up without saturating

    per_channel: bool = Field(
        True, description="One scale per output column instead of one per weight matrix: more accurate, hardly slower."
    )
    include_conv: bool = Field(
        False,
        description="Quantise convolutions too. Usually several times slower than not (no fast kernel); use INT8 "
        "static for them.",
    )
    reduce_range: ReduceRange = Field(
        "auto",
        description="Use 7 of the 8 bits for weights. 'auto' does so on x86 processors without VNNI, whose sums "
        "would saturate.",
    )

    @classmethod
    def fits(cls, manifest: Manifest, machine: Mapping[str, Any]) -> str | None:
        """As every plug-in; and a file without stored weights has nothing to quantise."""
        return super().fits(manifest, machine) or why_nothing_inside(manifest)

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """By the kind of net, then by what the processor adds up in 8 bits."""
        kind = kind_of(manifest)
        if kind == "convolutions":
            return Prediction("No difference", "convolutions are left alone unless asked for, and are then slower")
        if is_small(manifest):
            return Prediction(
                "Likely slower",
                f"{manifest.n_parameters:,} parameters: on single rows the rounding costs more than it saves",
            )
        if (flag := unit(machine, EIGHT_BIT)) is None:
            return Prediction("Worth a try", "this processor has no 8-bit dot product (VNNI): the gain is often small")
        if kind == "transformer":
            return Prediction("Likely faster", f"transformers gain 2 to 3 times where the processor has {flag}")
        return Prediction("Likely faster", f"wide dense layers gain where the processor has {flag}, as this one")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write the quantised model.onnx. Raises DoesNotFit when no operator was changed."""
        from onnxruntime.quantization import QuantType, quantize_dynamic

        types = ["MatMul", "Gemm", *(["Conv"] if self.include_conv else [])]
        reduced = reduce_range(self.reduce_range, cpu_flags())
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            prepared = prepare(source.folder, work, types)
            context.progress(0.4, "quantising")
            (work / "done").mkdir()
            quantize_dynamic(
                prepared,
                work / "done" / "model.onnx",
                op_types_to_quantize=types,
                per_channel=self.per_channel,
                reduce_range=reduced,
                weight_type=QuantType.QInt8,
                use_external_data_format=is_large(source.folder),
            )
            model = load_model(work / "done")
            n_quantised = count_integer(model) - count_integer(load_model(source.folder))
            notes = finish(work / "done", source.folder, out, source.manifest.signature, n_quantised)
        notes |= {"weights": f"int8 {'per channel' if self.per_channel else 'per tensor'}", "weight_bits": 8 - reduced}
        if self.include_conv:
            notes["remark"] = "convolutions in dynamic INT8 have no fast kernel: expect them to be slower"
        return notes
