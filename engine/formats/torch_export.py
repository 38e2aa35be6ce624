"""torch.export programs (`.pt2`): rewritten from checked parts, described from their JSON without loading torch."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from engine.errors import BadModel
from engine.formats.archive import is_zip, open_archive
from engine.formats.pt2_check import Parts, check_pt2, write_pt2
from engine.formats.pt2_text import readable_size, refuse
from engine.records import OutputKind, Signature, Task, TensorSpec

FILE = "model.pt2"
_DTYPES = {
    1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64", 12: "bool",
    13: "bfloat16",
}  # fmt: skip
_PASSES_ON = ("view", "reshape", "flatten", "squeeze", "unsqueeze", "to", "_to_copy", "contiguous", "clone", "detach")
_UNBOUNDED = 1 << 31


def recognises(head: bytes, path: Path) -> bool:
    """True for a zip archive that says of itself that it is a pt2, or that has its folders."""
    if not is_zip(head):
        return False
    try:
        with open_archive(path) as archive:
            names = {name.partition("/")[2] for name in archive.names}
    except BadModel:
        return path.suffix == ".pt2" or b"archive_format" in head or b"/data/weights/weight_" in head
    return "archive_format" in names


def take(path: Path, out: Path) -> None:
    """Check the archive and write a clean one as out/model.pt2. Raises BadModel."""
    parts = check_pt2(path)
    _facts(parts)
    write_pt2(parts, path, out / FILE)


def describe(folder: Path) -> dict[str, Any]:
    """Manifest fields of the model in `folder`."""
    return _facts(check_pt2(folder / FILE))


def _facts(parts: Parts) -> dict[str, Any]:
    try:
        return _read_facts(parts)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise refuse(f"a program whose signature cannot be read ({type(error).__name__})") from error


def _read_facts(parts: Parts) -> dict[str, Any]:
    signature = _read_signature(parts)
    trained = [entry["tensor_meta"] for entry in parts.weights["config"].values() if entry["is_param"]]
    return {
        "format": "torch_export",
        "signature": signature.model_dump(mode="json"),
        "n_parameters": sum(math.prod(size["as_int"] for size in meta["sizes"]) for meta in trained),
        "versions": {"torch": str(parts.program.get("torch_version", "")), "schema": "8"},
        "warnings": _warnings(parts, signature),
    }


# ---------------------------------------------------------------- the signature, from the JSON alone
def _only(entry: Any) -> tuple[str, Any]:
    if type(entry) is not dict or len(entry) != 1:
        raise refuse("a program whose inputs or outputs have an unknown form")
    return next(iter(entry.items()))


def _user_tensors(parts: Parts, side: str, kind: str) -> list[str]:
    """Names of the tensors that the caller gives or gets, in order."""
    names = []
    for spec in parts.program["graph_module"]["signature"][side]:
        use, value = _only(spec)
        if use != kind:
            continue
        argument, tensor = _only(value["arg"])
        if argument != "as_tensor":
            raise BadModel(f"an {side[:-6]} of the program is not a tensor ({argument}); export it with tensors alone")
        names.append(str(tensor["name"]))
    return names


def _shape(sizes: list[Any], batch: str | None) -> tuple[int | str, ...]:
    shape: list[int | str] = []
    for size in sizes:
        kind, value = _only(size)
        name = value if kind == "as_int" else readable_size(value["expr_str"])
        shape.append("batch" if name == batch else name)
    return tuple(shape)


def _read_signature(parts: Parts) -> Signature:
    tensors = parts.program["graph_module"]["graph"]["tensor_values"]
    given = _user_tensors(parts, "input_specs", "user_input")
    got = _user_tensors(parts, "output_specs", "user_output")
    if not given or not got:
        raise BadModel(f"the program has {len(given)} inputs and {len(got)} outputs; at least one of each is needed")
    first = _shape(tensors[given[0]]["sizes"], None)
    batch = first[0] if first and isinstance(first[0], str) else None

    def spec(name: str, shown: str) -> TensorSpec:
        meta = tensors[name]
        return TensorSpec(name=shown, dtype=_DTYPES[meta["dtype"]], shape=_shape(meta["sizes"], batch))

    outputs = tuple(spec(name, f"output_{position}") for position, name in enumerate(got))
    floats = [position for position, output in enumerate(outputs) if output.dtype.startswith(("float", "bfloat"))]
    judged = floats[0] if len(floats) == 1 else None
    task, kind = (None, None) if judged is None else _ending(parts, got[judged], outputs[judged])
    return Signature(
        inputs=tuple(spec(name, name) for name in given),
        outputs=outputs,
        score_output=None if judged is None else outputs[judged].name,
        output_kind=kind,
        task=task,
    )


def _ending(parts: Parts, name: str, output: TensorSpec) -> tuple[Task | None, OutputKind | None]:
    """What the last operation that matters says of the output; (None, None) when it says nothing."""
    made_by = {}
    for node in parts.program["graph_module"]["graph"]["nodes"]:
        for result in node["outputs"]:
            argument, value = _only(result)
            if argument == "as_tensor":
                made_by[value["name"]] = node
    width = output.shape[-1] if len(output.shape) > 1 else None
    for _ in range(20):
        if name not in made_by:
            return None, None
        operation = made_by[name]["target"].split(".")[-2]
        if operation in ("softmax", "_softmax", "log_softmax", "_log_softmax", "sigmoid"):
            kind: OutputKind = "logits" if "log" in operation else "probabilities"
            if operation == "sigmoid":
                return ("binary", kind) if width in (None, 1) else (None, kind)
            if not isinstance(width, int) or len(output.shape) != 2:
                return None, kind
            return ("binary" if width == 2 else "multiclass"), kind
        if operation not in _PASSES_ON:
            return None, None
        name = str(_only(made_by[name]["inputs"][0]["arg"])[1]["name"])
    return None, None


def _batch_range(parts: Parts, signature: Signature) -> tuple[int, int | None]:
    """Smallest and largest batch that the program was exported for; None: no upper bound."""
    sizes = parts.program["graph_module"]["graph"]["tensor_values"][signature.inputs[0].name]["sizes"]
    if not sizes or "as_expr" not in sizes[0]:
        return 0, None
    symbol = readable_size(sizes[0]["as_expr"]["expr_str"])
    limits = (parts.program.get("range_constraints") or {}).get(symbol) or {}
    low, high = limits.get("min_val") or 0, limits.get("max_val")
    return low, high if isinstance(high, int) and high < _UNBOUNDED else None


def _warnings(parts: Parts, signature: Signature) -> list[str]:
    found = []
    if signature.fixed_batch is not None:
        found.append(
            f"batch fixed at {signature.fixed_batch}: the export froze the batch axis; export again with "
            "dynamic_shapes=({0: torch.export.Dim('batch')},) to use other sizes"
        )
    low, high = _batch_range(parts, signature)
    if low > 2 or high is not None:  # 2 is what torch writes for "any": such programs take 1 as well
        allowed = f"from {max(low, 1)} to {high:,}" if high is not None else f"of at least {low}"
        found.append(f"the export allows batches {allowed} only")
    if len([o for o in signature.outputs if o.dtype.startswith("float")]) > 1:
        found.append("several outputs hold numbers: say which one is judged")
    return found
