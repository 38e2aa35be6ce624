"""What an ONNX file tells about itself: inputs, outputs, classes, the kind of its answer, size, versions."""

from __future__ import annotations

import json
from typing import Any

from engine.errors import BadModel
from engine.formats.onnx_check import element_count
from engine.formats.onnx_ending import Ending, read_ending
from engine.graph.onnx_files import operators
from engine.records import Signature, TensorSpec

# TensorProto.DataType -> numpy name
DTYPES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string", 9: "bool",
    10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 16: "bfloat16",
}  # fmt: skip
_TRAINED = {1, 2, 3, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26}  # floats and quantised weights
_TREES = ("nodes_treeids", "tree_roots")
ZIP_MAP = (
    "ends in ZipMap: the scores are read as columns in the order of the class names; ZipMap itself costs time in every "
    "call, export with options={'zipmap': False} to leave it out"
)


def describe_model(model: Any) -> dict[str, Any]:
    """Manifest fields of a checked model. Raises BadModel for inputs or outputs that are no tensors."""
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    warnings: list[str] = []
    given = {tensor.name for tensor in model.graph.initializer}
    inputs = tuple(_spec(value, "input") for value in model.graph.input if value.name not in given)
    if not inputs:
        raise BadModel("the ONNX model takes no input, so there is nothing to evaluate; export it again with one")
    inputs = _with_columns(inputs, metadata.get("feature_names"), warnings)
    ending = read_ending(model)
    outputs = tuple(
        TensorSpec(name=value.name, dtype="float32", shape=("batch", len(ending.zip_maps[value.name])))
        if value.name in ending.zip_maps
        else _spec(value, "output")
        for value in model.graph.output
    )
    signature = _signature(inputs, outputs, ending, names_in(metadata.get("classes")))
    trained = sum(element_count(tensor) for tensor in model.graph.initializer if tensor.data_type in _TRAINED)
    n_trees = sum(_n_trees(node) for node in model.graph.node)
    return {
        "format": "onnx",
        "signature": signature.model_dump(mode="json"),
        "n_parameters": None if n_trees else trained + ending.n_coefficients,
        "n_trees": n_trees or None,
        "operators": sorted(operators(model)),
        "versions": _versions(model),
        "warnings": warnings + _warnings(signature, ending),
    }


def _spec(value: Any, side: str) -> TensorSpec:
    if not value.type.HasField("tensor_type"):
        raise BadModel(
            f"the {side} {value.name[:60]!r} is a {(value.type.WhichOneof('value') or 'thing')[:30]}, not a tensor; "
            "export the model with tensors alone"
        )
    tensor = value.type.tensor_type
    if tensor.elem_type not in DTYPES:
        raise BadModel(f"the {side} {value.name[:60]!r} has the element type {tensor.elem_type}, which numpy lacks")
    shape: list[int | str] = []
    for axis, dim in enumerate(tensor.shape.dim):
        unnamed = "batch" if axis == 0 else f"{value.name}_{axis}"
        shape.append(dim.dim_value if dim.dim_value > 0 else dim.dim_param or unnamed)
    if not tensor.HasField("shape"):
        if side == "input":
            raise BadModel(
                f"the input {value.name[:60]!r} states no shape; export the model with the shapes of its inputs"
            )
        shape = ["batch", "unknown"]
    return TensorSpec(name=value.name, dtype=DTYPES[tensor.elem_type], shape=tuple(shape))


def names_in(text: str | None) -> tuple[str, ...]:
    """Names of a metadata entry: a JSON list, or separated by commas."""
    if not text:
        return ()
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list):
        names = text.split(",")
    return tuple(str(name).strip() for name in names)


def _with_columns(inputs: tuple[TensorSpec, ...], text: str | None, warnings: list[str]) -> tuple[TensorSpec, ...]:
    """feature_names belong to the one input of rank 2."""
    names = names_in(text)
    if not names:
        return inputs
    wide = [spec for spec in inputs if len(spec.shape) == 2]
    width = wide[0].shape[1] if len(wide) == 1 else None
    if len(wide) != 1 or len(set(names)) != len(names) or (isinstance(width, int) and width != len(names)):
        takes = f"the input {wide[0].name!r} takes {width}" if len(wide) == 1 else f"{len(wide)} inputs have rank 2"
        warnings.append(f"the metadata feature_names ({len(names)} names) is not used: {takes}, or a name occurs twice")
        return inputs
    return tuple(spec.model_copy(update={"columns": names}) if spec is wide[0] else spec for spec in inputs)


def _signature(
    inputs: tuple[TensorSpec, ...], outputs: tuple[TensorSpec, ...], ending: Ending, named: tuple[str, ...]
) -> Signature:
    judged = _judged(outputs, ending)
    kind = ending.kinds.get(judged or "")
    classes = ending.zip_maps.get(judged or "") or ending.classes
    width = next((o.shape[-1] for o in outputs if o.name == judged and len(o.shape) == 2), None)
    if not classes and named and width in (len(named), 1 if len(named) == 2 else None):
        classes = named
    task = ending.tasks.get(judged or "")
    if task is None and kind == "probabilities" and (n := len(classes or ()) or width) and isinstance(n, int):
        several = judged in ending.independent and n > 1  # one sigmoid per column: several labels at once, or one of n
        task = None if several else "binary" if n <= 2 else "multiclass"
    return Signature(
        inputs=inputs, outputs=outputs, task=task, classes=classes or None, score_output=judged, output_kind=kind
    )


def _judged(outputs: tuple[TensorSpec, ...], ending: Ending) -> str | None:
    """The output that holds scores: of (label, probabilities) the probabilities; None where several could be meant."""
    floats = [output.name for output in outputs if output.dtype.startswith(("float", "bfloat"))]
    told = [name for name in floats if name in ending.zip_maps] or [name for name in floats if name in ending.kinds]
    candidates = floats if len(floats) == 1 else told
    return candidates[0] if len(candidates) == 1 else None


def _n_trees(node: Any) -> int:
    for attribute in node.attribute:
        if attribute.name in _TREES and node.op_type.startswith("TreeEnsemble"):
            return len(set(attribute.ints))
    return 0


def _versions(model: Any) -> dict[str, str]:
    versions = {f"opset {o.domain.removesuffix('ai.onnx')}".strip(): str(o.version) for o in model.opset_import}
    producer = f"{model.producer_name} {model.producer_version}".strip()[:100]
    return versions | {"ir": str(model.ir_version)} | ({"producer": producer} if producer else {})


def _warnings(signature: Signature, ending: Ending) -> list[str]:
    found = []
    if signature.fixed_batch is not None:
        found.append(
            f"batch fixed at {signature.fixed_batch}: the export froze the batch axis; export again with a dynamic "
            "batch axis to use other sizes"
        )
    if ending.zip_maps:
        found.append(ZIP_MAP)
    if half := [spec.name for spec in signature.inputs if spec.dtype in ("float16", "bfloat16")]:
        found.append(f"takes {', '.join(half)[:100]} in half precision: values are rounded to about 3 digits")
    if signature.score_output is None:
        found.append("no output is surely the score: say which one is judged")
    return found
