"""Read, write and look into ONNX models on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import DoesNotFit
from engine.graph.onnx_session import MODEL_FILE, open_session
from engine.records import Signature

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto

DATA_FILE = "model.onnx.data"
INLINE_BYTES = 1_800_000_000  # protobuf ends at 2 GiB; above this the weights go to a file of their own
_TYPES = {"float": "float32", "double": "float64"}


def folder_bytes(folder: Path) -> int:
    """Size of the payload: every file of the folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def is_large(folder: Path) -> bool:
    """True when the model needs external data to be written."""
    return folder_bytes(folder) > INLINE_BYTES


def load_model(folder: Path) -> ModelProto:
    """The model of an artefact with its external data."""
    import onnx

    return onnx.load(folder / MODEL_FILE)


def save_model(model: ModelProto, folder: Path) -> None:
    """Write model.onnx, with the weights beside it when it would not fit into one protobuf file.

    Operator sets that no node uses are dropped: optimisers list all they know, and readers refuse unknown ones.
    """
    import onnx

    used = {node.domain or "" for node in all_nodes(model)} | {function.domain for function in model.functions} | {""}
    kept = [opset for opset in model.opset_import if ("" if opset.domain == "ai.onnx" else opset.domain) in used]
    del model.opset_import[:]
    model.opset_import.extend(kept)
    large = model.ByteSize() > INLINE_BYTES
    onnx.save_model(model, folder / MODEL_FILE, save_as_external_data=large, location=DATA_FILE if large else None)


def all_nodes(model: ModelProto) -> Iterator[NodeProto]:
    """Every node, those of subgraphs and functions included."""
    yield from _nodes(model.graph)
    for function in model.functions:
        yield from function.node


def _nodes(graph: GraphProto) -> Iterator[NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in _graphs(attribute):
                yield from _nodes(inner)


def _graphs(attribute: AttributeProto) -> Iterator[GraphProto]:
    if attribute.HasField("g"):
        yield attribute.g
    yield from attribute.graphs


def operators(model: ModelProto) -> Counter[str]:
    """Operator type -> how often."""
    return Counter(node.op_type for node in all_nodes(model))


def weights(model: ModelProto) -> Iterator[TensorProto]:
    """Every stored tensor: initialisers and the values of Constant nodes."""
    yield from model.graph.initializer
    for node in all_nodes(model):
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            for inner in _graphs(attribute):
                yield from inner.initializer


def check_result(folder: Path, signature: Signature) -> None:
    """Open what a lever wrote and compare its inputs and outputs with the original's.

    Raises DoesNotFit when it does not load or when a name or type changed: it would not answer in the original's place.
    """
    session = open_session(folder / MODEL_FILE)
    for kind, specs, found in (
        ("inputs", signature.inputs, session.get_inputs()),
        ("outputs", signature.outputs, session.get_outputs()),
    ):
        expected = {spec.name: spec.dtype for spec in specs}
        got = {value.name: _dtype(value.type, expected.get(value.name, "")) for value in found}
        if got != expected:
            raise DoesNotFit(f"the result has the {kind} {got}, the original {expected}; it cannot take its place")


def _dtype(declared: str, expected: str) -> str:
    """Type name of 'tensor(float)'; a ZipMap (seq(map(…))) is what the signature says its runtime array is."""
    if not declared.startswith("tensor("):
        return expected
    inner = declared.removeprefix("tensor(").removesuffix(")")
    return _TYPES.get(inner, inner)
