"""Static checks of an ONNX model: operators, tensors, nesting. Parsed as data; no session is made here.

What passes may still ask for 400 GB or run for ever: that is what the confined child is for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.errors import BadModel

DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml", "com.microsoft"})
MAX_BYTES = (1 << 31) - 1  # protobuf's own limit
MAX_NODES = 60_000  # the largest exports of transformers have some 20,000
MAX_DEPTH = 16
MAX_ELEMENTS = 1 << 36
MAX_RANK = 32
# TensorProto.DataType -> bits; text and undefined have none
_BITS = {
    1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 14: 64, 15: 128, 16: 16,
    17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 24: 8, 25: 2, 26: 2,
}  # fmt: skip
_TEXT = 8
_FIELDS = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")
Call = tuple[str, str, str]  # domain, name, overload of a function
DAMAGED = "the ONNX file is damaged or cut off ({}); save or upload it again"


def read_model(path: Path) -> Any:
    """The parsed onnx.ModelProto, without external data. Raises BadModel."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    if path.stat().st_size > MAX_BYTES:
        raise BadModel(
            f"the ONNX file has {path.stat().st_size:,} bytes, more than the 2 GB one file can hold; save it with "
            "external data (onnx.save(model, path, save_as_external_data=True)) and upload a zip of all files"
        )
    model = onnx.ModelProto()
    try:
        model.ParseFromString(path.read_bytes())
    except DecodeError as error:
        raise BadModel(DAMAGED.format(str(error).rpartition(": ")[2][:100] or "it is no protobuf")) from error
    if not model.HasField("graph") or not model.ir_version:
        raise BadModel(DAMAGED.format("it holds no graph"))
    return model


def check_model(model: Any) -> list[Any]:
    """Walk everything in the model; returns the tensors whose numbers lie in other files. Raises BadModel."""
    _check_text(model)
    external: list[Any] = []
    for tensor in _tensors(model):
        if tensor.data_location == tensor.EXTERNAL:
            _check_dims(tensor)
            external.append(tensor)
        else:
            _check_tensor(tensor)
    local = {(function.domain, function.name, function.overload): function for function in model.functions}
    for function in model.functions:
        if any(a.HasField("t") or a.HasField("g") or a.tensors or a.graphs for a in function.attribute_proto):
            raise BadModel(f"refused: the function {function.name[:60]!r} has a tensor or graph as a default")
    for node in _all_nodes(model):
        if node.domain not in DOMAINS and _call(node) not in local:
            raise BadModel(
                f"refused: the operator {node.op_type[:60]!r} of the domain {node.domain[:60]!r} needs code that is "
                "not here; allowed are ai.onnx, ai.onnx.ml and com.microsoft. Export without custom operators"
            )
    _check_expansion(model, local)
    if not model.graph.output:
        raise BadModel("the ONNX model has no output; export it again with at least one")
    return external


def _check_text(message: Any) -> None:
    """Every text is UTF-8: protobuf hands out anything else as bytes."""
    for descriptor, value in message.ListFields():
        if descriptor.type == descriptor.TYPE_MESSAGE:
            for inner in value if descriptor.is_repeated else (value,):
                _check_text(inner)
        elif descriptor.type == descriptor.TYPE_STRING:
            for text in value if descriptor.is_repeated else (value,):
                if not isinstance(text, str):
                    raise BadModel(DAMAGED.format(f"{descriptor.name} is no text"))


# ---------------------------------------------------------------- walking
def _call(node: Any) -> Call:
    return node.domain, node.op_type, node.overload


def _subgraphs(node: Any) -> Iterator[Any]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _graphs(nodes: Any, depth: int = 1) -> Iterator[Any]:
    for node in nodes:
        for graph in _subgraphs(node):
            if depth >= MAX_DEPTH:
                raise BadModel(f"refused: the ONNX model nests subgraphs more than {MAX_DEPTH} deep")
            yield graph
            yield from _graphs(graph.node, depth + 1)


def _bodies(model: Any) -> Iterator[Any]:
    """Lists of nodes: the graph, the functions, and every graph inside them."""
    for nodes in (model.graph.node, *(function.node for function in model.functions)):
        yield nodes
        for graph in _graphs(nodes):
            yield graph.node


def _all_nodes(model: Any) -> Iterator[Any]:
    for nodes in _bodies(model):
        yield from nodes


def _tensors(model: Any) -> Iterator[Any]:
    graphs = [model.graph, *_graphs(model.graph.node)]
    for function in model.functions:
        graphs += _graphs(function.node)
    for graph in graphs:
        yield from graph.initializer
        for sparse in graph.sparse_initializer:
            yield from _sparse(sparse)
    for node in _all_nodes(model):
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                yield from _sparse(sparse)


def _sparse(sparse: Any) -> Iterator[Any]:
    _check_shape("(sparse)", list(sparse.dims))
    if sparse.HasField("values"):
        yield sparse.values
        yield sparse.indices


# ---------------------------------------------------------------- tensors
def element_count(tensor: Any) -> int:
    """Elements that the dims claim."""
    return math.prod(tensor.dims)


def stored_bytes(tensor: Any) -> int:
    """Bytes that the dims and the type ask for."""
    return (element_count(tensor) * _BITS.get(tensor.data_type, 0) + 7) // 8


def _check_dims(tensor: Any) -> None:
    _check_shape(tensor.name[:60], list(tensor.dims))
    if tensor.data_type != _TEXT and tensor.data_type not in _BITS:
        raise BadModel(f"refused: the tensor {tensor.name[:60]!r} has the unknown element type {tensor.data_type}")


def _check_shape(name: str, dims: list[int]) -> None:
    if len(dims) > MAX_RANK or any(dim < 0 for dim in dims) or math.prod(dims) > MAX_ELEMENTS:
        raise BadModel(f"refused: the tensor {name!r} claims the shape {dims[:8]}; save the model again")


def _check_tensor(tensor: Any) -> None:
    """The numbers in the file are as many as the dims claim."""
    _check_dims(tensor)
    n_elements, bits = element_count(tensor), _BITS.get(tensor.data_type, 0)
    if tensor.HasField("raw_data"):
        held, claimed = len(tensor.raw_data), stored_bytes(tensor)
    else:
        held = max(len(getattr(tensor, field)) for field in _FIELDS)
        per_entry = 8 // bits if 0 < bits < 8 else 1
        claimed = -(-n_elements // per_entry) * (2 if tensor.data_type in (14, 15) else 1)
    if held != claimed:
        raise BadModel(
            f"refused: the tensor {tensor.name[:60]!r} of shape {list(tensor.dims)[:8]} needs {claimed:,} values or "
            f"bytes and holds {held:,}; the file is damaged or was made by hand"
        )


# ---------------------------------------------------------------- size once functions are written out
def _check_expansion(model: Any, local: dict[Call, Any]) -> None:
    done: dict[Call, int] = {}

    def expanded(nodes: Any, inside: tuple[Call, ...]) -> int:
        total = 0
        for node in nodes:
            total += function_size(_call(node), inside) if _call(node) in local else 1
            total += sum(expanded(graph.node, inside) for graph in _subgraphs(node))
        return total

    def function_size(key: Call, inside: tuple[Call, ...]) -> int:
        if key in inside or len(inside) >= MAX_DEPTH:
            raise BadModel(f"refused: the function {key[1][:60]!r} of the ONNX model calls itself or nests too deeply")
        if key not in done:
            done[key] = expanded(local[key].node, (*inside, key))
        return done[key]

    if (total := expanded(model.graph.node, ())) > MAX_NODES:
        raise BadModel(f"refused: the ONNX model has {total:,} nodes, allowed are {MAX_NODES:,}")
