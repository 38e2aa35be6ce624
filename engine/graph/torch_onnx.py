"""Write an exported PyTorch program as ONNX."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import DoesNotFit
from engine.graph.onnx_files import load_model, save_model
from engine.graph.onnx_session import MODEL_FILE
from engine.records import Signature

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def write_onnx(program: ExportedProgram, out: Path, signature: Signature, *, large: bool) -> None:
    """Write out/model.onnx with the names of the signature; large: weights go to a file beside it.

    Raises DoesNotFit with the innermost reason when an operator has no ONNX counterpart.
    """
    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                program,
                (),
                out / MODEL_FILE,
                dynamo=True,
                input_names=[spec.name for spec in signature.inputs],
                output_names=[spec.name for spec in signature.outputs],
                external_data=large,
                verbose=False,
            )
    except torch.onnx.errors.OnnxExporterError as error:
        raise DoesNotFit(f"PyTorch cannot write this program as ONNX: {cause(error)}") from error
    if not large:
        save_model(load_model(out), out)


def cause(error: BaseException) -> str:
    """The innermost reason in one line; the outer ones are advice about reports and versions."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error).strip().split("\n")[0][:300]
