"""What the INT8 levers share: preparing a graph, counting what was quantised, and what a processor can add up."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from engine.errors import DoesNotFit
from engine.graph.onnx_files import (
    all_nodes,
    check_result,
    folder_bytes,
    is_large,
    load_model,
    operators,
    save_model,
)
from engine.graph.onnx_session import MODEL_FILE
from engine.records import Manifest, Signature

if TYPE_CHECKING:
    from onnx import ModelProto

ReduceRange = Literal["auto", "on", "off"]
NOTHING_INSIDE = "no MatMul/Conv inside: there is nothing to store in fewer bits"
_WEIGHTED = {"MatMul", "Gemm", "Conv", "ConvTranspose", "LSTM", "GRU", "RNN"}
_INTEGER = ("MatMulInteger", "ConvInteger", "DynamicQuantizeMatMul", "MatMulIntegerToFloat")


def why_nothing_inside(manifest: Manifest) -> str | None:
    """The reason an ONNX file without stored weights (trees, linear classifiers) cannot be quantised, else None."""
    known = set(manifest.operators)
    trees = manifest.n_trees and not manifest.n_parameters and not known  # an exported forest
    empty = trees or manifest.n_parameters == 0 or (known and not known & _WEIGHTED)
    return NOTHING_INSIDE if empty else None


def reduce_range(choice: ReduceRange, flags: Collection[str]) -> bool:
    """Whether weights should use 7 bits. 'auto': on x86 without VNNI, where 16-bit sums of u8·s8 saturate."""
    if choice != "auto":
        return choice == "on"
    return "avx2" in flags and not {"avx512_vnni", "avx_vnni"} & set(flags)


def prepare(source: Path, work: Path, wanted: Collection[str]) -> Path:
    """A copy in `work` with constants folded, operators fused and shapes inferred. Raises DoesNotFit without `wanted`.

    Symbolic shape inference is left out: it fails on transformers exported by PyTorch ("Incomplete symbolic shape
    inference"), and the types the quantiser needs come from ONNX's own inference.
    """
    from onnxruntime.quantization.shape_inference import quant_pre_process

    model = load_model(source)
    inside = operators(model)
    if not any(inside[name] for name in wanted):
        if inside["Conv"]:
            raise DoesNotFit(
                f"no {'/'.join(wanted)} inside, only convolutions: use INT8 static, which is made for them"
            )
        raise DoesNotFit(NOTHING_INSIDE)
    save_model(model, work)  # in one piece: else the result would point to the source's weight file
    target = work / "prepared.onnx"
    quant_pre_process(work / MODEL_FILE, target, skip_symbolic_shape=True, save_as_external_data=is_large(source))
    return target


def finish(written: Path, source: Path, out: Path, signature: Signature, n_quantised: int) -> dict[str, Any]:
    """Move a quantised model into `out`, prove that it loads, and say what changed. Raises DoesNotFit for a no-op."""
    if n_quantised == 0:
        raise DoesNotFit("the quantiser changed no operator: the weights are not float32 constants of MatMul/Gemm/Conv")
    save_model(load_model(written), out)
    check_result(out, signature)
    notes: dict[str, Any] = {
        "quantised": n_quantised,
        "bytes_before": folder_bytes(source),
        "bytes_after": folder_bytes(out),
    }
    fused = sum(n for name, n in operators(load_model(source)).items() if name.startswith("Fused"))
    if fused:
        notes["left_alone"] = f"{fused} fused operators, which have no 8-bit form: quantise first, then optimise"
    return notes


def count_integer(model: ModelProto) -> int:
    """Operators that compute on 8-bit integers after dynamic quantisation."""
    found = operators(model)
    return sum(found[name] for name in _INTEGER)


def count_between_pairs(model: ModelProto) -> int:
    """MatMul, Gemm and Conv whose data and weights both come from DequantizeLinear: what a runtime runs in INT8."""
    made_by = {name: node.op_type for node in all_nodes(model) for name in node.output}
    return sum(
        node.op_type in ("MatMul", "Gemm", "Conv")
        and all(made_by.get(name) == "DequantizeLinear" for name in node.input[:2])
        for node in all_nodes(model)
    )
