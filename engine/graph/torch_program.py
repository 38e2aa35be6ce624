"""Exported PyTorch programs (`model.pt2`, always the archive that intake rewrote): open, name, call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch.export import ExportedProgram

MODEL_FILE = "model.pt2"


def load(folder: Path) -> ExportedProgram:
    """The program of a folder."""
    import torch

    return torch.export.load(folder / MODEL_FILE)


def caller(program: ExportedProgram) -> Callable[[Mapping[str, Any]], list[Any]]:
    """A function from input name -> tensor to the list of output tensors, whatever nesting the program uses.

    Guards are not run: shapes are checked by us, and guards are text that torch would execute.
    """
    from torch.utils import _pytree as pytree

    module = program.module(check_guards=False)
    names, in_spec = program.graph_signature.user_inputs, program.call_spec.in_spec

    def call(inputs: Mapping[str, Any]) -> list[Any]:
        args, kwargs = pytree.tree_unflatten([inputs[name] for name in names], in_spec)
        return list(pytree.tree_leaves(module(*args, **kwargs)))

    return call


def to_tensor(values: np.ndarray) -> Any:
    """A tensor that shares the array's memory; read-only arrays are copied, for a program may write to its input."""
    import torch

    return torch.from_numpy(np.require(values, requirements=("C", "W")))


def to_array(value: Any) -> np.ndarray:
    """A numpy array in host memory; bfloat16, which numpy lacks, becomes float32."""
    import torch

    value = value.detach().cpu()
    array: np.ndarray = (value.float() if value.dtype == torch.bfloat16 else value).numpy()
    return array
