"""Weights and activations in 8 bits, with ranges learnt from calibration rows."""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from engine.environment import cpu_flags, memory_limit_bytes
from engine.graph.calibration import Plan, Reader, activation_bytes, plan
from engine.graph.kind import EIGHT_BIT, is_small, kind_of, unit
from engine.graph.onnx_files import is_large, load_model
from engine.graph.onnx_quantise import (
    ReduceRange,
    count_between_pairs,
    finish,
    prepare,
    reduce_range,
    why_nothing_inside,
)
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest

CORE_TYPES = ["MatMul", "Gemm", "Conv"]


class Int8Static(Lever):
    """Stores weights as 8-bit integers and fixes the range of each activation from calibration rows.

    Helps convolutions most (3 to 8 times on processors with VNNI), dense nets and transformers too; a quarter of the
    size. Hurts where single values dwarf the rest: their range wastes the 8 bits. Transformers trained on real text
    often lose accuracy here and keep it with INT8 dynamic. Source: Krishnamoorthi (2018), Quantizing deep convolutional
    networks for efficient inference.
    """

    title = "INT8, static"
    accepts = frozenset({"onnx"})
    libraries = ("onnx", "onnxruntime")
    machine_bound = True  # 7 or 8 bits, by what the processor can add up without saturating

    per_channel: bool = Field(
        True, description="One scale per output channel instead of one per weight tensor: more accurate, hardly slower."
    )
    method: Literal["minmax", "entropy", "percentile"] = Field(
        "minmax",
        description="How the range of an activation is chosen: everything seen, least information lost, or all but "
        "the 0.001 % at the ends.",
    )
    activations: Literal["uint8", "int8"] = Field(
        "uint8", description="int8 is 2 to 5 times slower on x86 and meant for GPUs and some ARM processors."
    )
    operators: Literal["core", "all"] = Field(
        "core",
        description="'core': MatMul, Gemm and Conv. 'all': every operator with an 8-bit form; faster, less accurate.",
    )
    max_rows: int = Field(512, ge=1, le=100_000, description="Calibration rows used, drawn at random with the seed.")
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
        """By what the processor adds up in 8 bits, then by the kind of net."""
        kind, flag = kind_of(manifest), unit(machine, EIGHT_BIT)
        if kind != "convolutions" and is_small(manifest):
            return Prediction(
                "Likely slower",
                f"{manifest.n_parameters:,} parameters: on single rows the conversions cost more than they save",
            )
        if flag is None:
            return Prediction("Worth a try", "this processor has no 8-bit dot product (VNNI): the gain is often small")
        if kind == "convolutions":
            return Prediction("Likely faster", f"convolutions gain 1.3 to 5 times over plain ONNX with {flag}")
        if kind == "transformer":
            return Prediction("Worth a try", "as fast as INT8 dynamic, but real text often loses accuracy here")
        return Prediction("Likely faster", f"wide dense layers gain where the processor has {flag}, as this one")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write the quantised model.onnx. Raises DoesNotFit without calibration rows or without a change."""
        from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static

        methods = {
            "minmax": CalibrationMethod.MinMax,
            "entropy": CalibrationMethod.Entropy,
            "percentile": CalibrationMethod.Percentile,
        }
        reduced = reduce_range(self.reduce_range, cpu_flags())
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            prepared = prepare(source.folder, work, CORE_TYPES)
            feed = self._plan(prepared, source.manifest, context)
            (work / "done").mkdir()
            quantize_static(
                prepared,
                work / "done" / "model.onnx",
                Reader(context.calibration.inputs, feed, context.progress),
                quant_format=QuantFormat.QDQ,
                op_types_to_quantize=None if self.operators == "all" else CORE_TYPES,
                per_channel=self.per_channel,
                reduce_range=reduced,
                activation_type=QuantType.QUInt8 if self.activations == "uint8" else QuantType.QInt8,
                weight_type=QuantType.QInt8,
                calibrate_method=methods[self.method],
                use_external_data_format=is_large(source.folder),
                calibration_providers=["CPUExecutionProvider"],
                extra_options={"CalibStridedMinMax": feed.chunk},
            )
            context.progress(0.85, "checking that it loads")
            n_quantised = count_between_pairs(load_model(work / "done"))
            notes = finish(work / "done", source.folder, out, source.manifest.signature, n_quantised)
        notes |= {
            "weights": f"int8 {'per channel' if self.per_channel else 'per tensor'}",
            "weight_bits": 8 - reduced,
            "activations": f"{self.activations}, {self.method}",
            "calibration_rows": min(context.calibration.n_rows, self.max_rows),
        }
        if self.method != "minmax":  # minmax keeps two numbers per activation
            notes["calibration_bytes"] = feed.chunk_bytes
        return notes

    def _plan(self, prepared: Path, manifest: Manifest, context: Context) -> Plan:
        rows, fixed = context.calibration, manifest.signature.fixed_batch
        if rows.n_rows == 0:
            return plan(0, self.max_rows, context.seed, fixed, 0.0, 0)
        first = {name: values[[i % rows.n_rows for i in range(fixed or 1)]] for name, values in rows.inputs.items()}
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        allowed = memory_limit_bytes() if limit == resource.RLIM_INFINITY else min(limit, memory_limit_bytes())
        per_row = 0.0 if self.method == "minmax" else activation_bytes(prepared, first)
        return plan(rows.n_rows, self.max_rows, context.seed, fixed, per_row, allowed)
