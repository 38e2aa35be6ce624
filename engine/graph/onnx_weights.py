"""Stored weights of an ONNX graph: find them, turn Gemm into MatMul, store matrices in blocks of 4 or 8 bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from engine.errors import DoesNotFit
from engine.graph.onnx_files import check_result, folder_bytes, load_model, operators, save_model
from engine.graph.onnx_quantise import NOTHING_INSIDE
from engine.records import Signature

if TYPE_CHECKING:
    import numpy as np
    from onnx import ModelProto, NodeProto, TensorProto

_BLOCKWISE = ("MatMulNBits", "GatherBlockQuantized")


def constants(model: ModelProto) -> dict[str, TensorProto]:
    """Name -> tensor of what the graph stores: initialisers, and Constant nodes that hold a tensor."""
    found = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].HasField("t"):
            found[node.output[0]] = node.attribute[0].t
    return found


def to_array(tensor: TensorProto) -> np.ndarray:
    """The values of a stored tensor."""
    from onnx import numpy_helper

    values: np.ndarray = numpy_helper.to_array(tensor)
    return values


def gemm_as_matmul(model: ModelProto) -> int:
    """Replace each Gemm with a stored float32 matrix by MatMul and Add, in place; returns how many.

    Tools that know MatMul alone leave Gemm as it is and say nothing. The sum is the same within rounding. A Gemm
    that scales or transposes its data stays.
    """
    from onnx import TensorProto, helper, numpy_helper

    stored, made, n_changed = constants(model), [], 0
    for node in model.graph.node:
        settings = {entry.name: helper.get_attribute_value(entry) for entry in node.attribute}
        weight = stored.get(node.input[1]) if node.op_type == "Gemm" else None
        plain = not settings.get("transA") and settings.get("alpha", 1.0) == settings.get("beta", 1.0) == 1.0
        if weight is None or weight.data_type != TensorProto.FLOAT or not plain:
            made.append(node)
            continue
        values = to_array(weight)
        name = f"{node.input[1]}_{n_changed}_matrix"
        matrix = values.T.copy() if settings.get("transB") else values
        model.graph.initializer.append(numpy_helper.from_array(matrix, name))
        biased = len(node.input) > 2 and bool(node.input[2])
        product = f"{node.output[0]}_product" if biased else node.output[0]
        made.append(helper.make_node("MatMul", [node.input[0], name], [product], name=f"{node.name}_MatMul"))
        if biased:
            made.append(helper.make_node("Add", [product, node.input[2]], [node.output[0]], name=f"{node.name}_Add"))
        n_changed += 1
    del model.graph.node[:]
    model.graph.node.extend(made)
    drop_unused(model)
    return n_changed


def drop_unused(model: ModelProto) -> None:
    """Remove initialisers that no node reads, subgraphs included."""
    from engine.graph.onnx_files import all_nodes

    read = {name for node in all_nodes(model) for name in node.input} | {value.name for value in model.graph.output}
    kept = [tensor for tensor in model.graph.initializer if tensor.name in read]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)


def store_in_blocks(
    source: Path,
    out: Path,
    signature: Signature,
    *,
    bits: Literal[4, 8],
    block: int,
    in_integers: bool,
    embeddings: bool,
    progress: Callable[[float, str], None],
) -> dict[str, Any]:
    """Write the model with its matrices in blocks of `block` values with one scale each; returns notes.

    in_integers: multiply in 8-bit integers, else in float32. Raises DoesNotFit when no operator was changed.
    """
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    model = load_model(source)
    before = operators(model)
    if not before["MatMul"] and not before["Gemm"]:
        raise DoesNotFit("no MatMul/Gemm inside, only convolutions" if before["Conv"] else NOTHING_INSIDE)
    n_gemm = gemm_as_matmul(model)
    _name_nodes(model.graph.node)
    progress(0.3, f"packing into {bits} bits")
    work = MatMulNBitsQuantizer(
        model,
        bits=bits,
        block_size=block,
        is_symmetric=True,
        accuracy_level=4 if in_integers else None,
        op_types_to_quantize=("MatMul", "Gather") if embeddings else ("MatMul",),
    )
    work.process()
    result = work.model.model
    after = operators(result)
    n_changed = sum(after[name] - before[name] for name in _BLOCKWISE)
    if n_changed == 0:
        raise DoesNotFit("no operator was changed: the matrices are not stored as float32 numbers of MatMul or Gemm")
    drop_unused(result)
    save_model(result, out)
    progress(0.8, "checking that it loads")
    check_result(out, signature)
    notes: dict[str, Any] = {
        "quantised": n_changed,
        "gemm_rewritten": n_gemm,
        "bytes_before": folder_bytes(source),
        "bytes_after": folder_bytes(out),
        "weights": f"{bits} bits, one scale per {block} values",
        "computed_in": "8-bit integers" if in_integers else "float32",
    }
    if notes["bytes_after"] >= notes["bytes_before"]:
        notes["remark"] = "the file did not shrink: its matrices are smaller than the blocks they were filled up to"
    return notes


def _name_nodes(nodes: Any) -> None:
    """The quantiser tells nodes apart by name, and exporters leave some without one."""
    seen: set[str] = set()
    for position, node in enumerate(nodes):
        if not node.name or node.name in seen:
            node.name = f"{node.op_type}_{position}"
        seen.add(node.name)


def consumers(model: ModelProto, name: str) -> list[NodeProto]:
    """The nodes of the main graph that read a value."""
    return [node for node in model.graph.node if name in node.input]
