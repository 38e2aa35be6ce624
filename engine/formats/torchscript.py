"""TorchScript (`torch.jit.save`): rewritten from checked parts, described by calling it in the confined child."""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any

from engine.errors import BadModel
from engine.formats.archive import is_zip, open_archive
from engine.formats.torchscript_check import Parts, check_torchscript, write_torchscript
from engine.formats.torchscript_shapes import UNSTEADY, Found, find_shapes
from engine.graph.torchscript_program import MODEL_FILE
from engine.records import OutputKind, Signature, Task, TensorSpec

_ENDINGS: dict[str, OutputKind] = {
    "softmax": "probabilities",
    "log_softmax": "logits",
    "sigmoid": "probabilities",
}


def recognises(head: bytes, path: Path) -> bool:
    """True for a zip archive with a folder of TorchScript code."""
    if not is_zip(head):
        return False
    try:
        with open_archive(path) as archive:
            inner = [name.partition("/")[2] for name in archive.names]
    except BadModel:
        return b"/code/__torch__" in head
    return any(name.startswith("code/__torch__") for name in inner)


def take(path: Path, out: Path) -> None:
    """Check the archive and write a clean one as out/model.pt. Raises BadModel."""
    parts = check_torchscript(path)
    _input_names(parts)
    write_torchscript(parts, path, out / MODEL_FILE)


def describe(folder: Path) -> dict[str, Any]:
    """Manifest fields of the model in `folder`. Calls the module: only in the confined child. Raises BadModel."""
    parts = check_torchscript(folder / MODEL_FILE)
    found = find_shapes(parts, folder, _input_names(parts))
    signature = _signature(found)
    warnings = [] if found.steady else [UNSTEADY]
    if signature.fixed_batch is not None:
        warnings.append(
            f"batch fixed at {signature.fixed_batch}: with another number of rows the module stops or answers in "
            "another shape"
        )
    if parts.examples is None:
        warnings.append("the shapes of the inputs were found by trying: a trace (torch.jit.trace) would say them")
    if len([o for o in signature.outputs if o.dtype.startswith("float")]) > 1:
        warnings.append("several outputs hold numbers: say which one is judged")
    return {
        "format": "torchscript",
        "signature": signature.model_dump(mode="json"),
        "n_parameters": sum(math.prod(each.shape) for each in parts.trained()),
        "versions": {"torchscript": parts.version},
        "warnings": warnings,
    }


def _forward(parts: Parts) -> ast.FunctionDef:
    return parts.parsed.classes[parts.module.kind].methods["forward"]


def _input_names(parts: Parts) -> list[str]:
    """Names of the tensors that forward takes. Raises BadModel for other kinds of input."""
    args = _forward(parts).args.args[1:]
    if parts.examples is not None:
        args = args[: len(parts.examples)]
    else:
        args = args[: len(args) - len(_forward(parts).args.defaults)]
    for each in args:
        kind = ast.unparse(each.annotation) if each.annotation else "nothing known"
        if kind not in ("Tensor", "Optional[Tensor]"):
            raise BadModel(f"the input {each.arg!r} is {kind[:60]}; let forward take tensors alone")
    if not args:
        raise BadModel("forward takes no tensor; at least one is needed")
    return [each.arg for each in args]


def _signature(found: Found) -> Signature:
    floats = [spec for spec in found.outputs if spec.dtype.startswith(("float", "bfloat"))]
    judged = floats[0] if len(floats) == 1 else None
    task, kind = (None, None) if judged is None else _ending(found, judged)
    return Signature(
        inputs=found.inputs,
        outputs=found.outputs,
        score_output=None if judged is None else judged.name,
        output_kind=kind,
        task=task,
    )


def _ending(found: Found, output: TensorSpec) -> tuple[Task | None, OutputKind | None]:
    """What the last operation says of the output; (None, None) when it says nothing."""
    kind = _ENDINGS.get(found.ending or "")
    width = output.shape[-1] if len(output.shape) > 1 else None
    if kind is None:
        return None, None
    if found.ending == "sigmoid":
        return ("binary", kind) if width in (None, 1) else (None, kind)
    if not isinstance(width, int) or len(output.shape) != 2:
        return None, kind
    return ("binary" if width == 2 else "multiclass"), kind
