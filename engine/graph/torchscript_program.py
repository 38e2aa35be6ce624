"""TorchScript programs (`model.pt`, always the archive that intake rewrote): open and call."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import BadModel, DoesNotFit
from engine.records import Signature

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.jit import ScriptModule

MODEL_FILE = "model.pt"


def load(folder: Path) -> ScriptModule:
    """The module of a folder, on the CPU, as it was saved: evaluation mode changes only what still asks for it."""
    import torch

    try:
        return torch.jit.load(folder / MODEL_FILE, map_location="cpu").eval()  # type: ignore[no-any-return]
    except RuntimeError as error:
        raise BadModel(f"PyTorch cannot open this TorchScript file: {first_line(error)}") from error


def caller(module: ScriptModule) -> Callable[[list[Any]], list[Any]]:
    """A function from the list of input tensors to the list of output tensors, whatever nesting the program uses."""
    from torch.utils import _pytree as pytree

    return lambda inputs: list(pytree.tree_leaves(module(*inputs)))


def as_program(module: ScriptModule, signature: Signature) -> ExportedProgram:
    """The same as an exported program with free axes, its outputs in a row. Raises DoesNotFit where torch cannot."""
    from torch._export.converter import TS2EPConverter

    try:
        with warnings.catch_warnings():  # counters of training that evaluation never reads
            warnings.simplefilter("ignore")
            return TS2EPConverter(module, tuple(examples(signature))).convert()  # type: ignore[no-any-return]
    except (RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:  # whatever it does not know
        raise DoesNotFit(f"PyTorch cannot turn this TorchScript into a program: {first_line(error)}") from error


def examples(signature: Signature, rows: int = 2) -> list[Any]:
    """Tensors that fit a signature, the same each time: normal numbers, and ones for whole numbers and masks."""
    import torch

    made, generator = [], torch.Generator().manual_seed(0)
    for spec in signature.inputs:
        shape = [8 if isinstance(size, str) else size for size in spec.shape]
        if spec.shape and isinstance(spec.shape[0], str):
            shape[0] = rows
        kind = getattr(torch, spec.dtype)
        values = torch.randn(shape, generator=generator) if kind.is_floating_point else torch.ones(shape)
        made.append(values.to(kind))
    return made


def first_line(error: Exception) -> str:
    """What TorchScript says without its trace of the code: the last line that holds a reason."""
    lines = [line.strip() for line in str(error).strip().split("\n") if line.strip()]
    said = [line for line in lines if line.startswith(("RuntimeError:", "builtins."))]
    return (said[-1] if said else lines[0] if lines else type(error).__name__)[:300]
