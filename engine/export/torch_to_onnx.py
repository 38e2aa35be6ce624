"""An exported PyTorch program to ONNX."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.errors import DoesNotFit
from engine.graph import torch_program
from engine.graph.kind import kind_of
from engine.graph.onnx_files import (
    check_result,
    folder_bytes,
    is_large,
    load_model,
    operators,
    save_model,
)
from engine.graph.onnx_session import MODEL_FILE
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest


class TorchToOnnx(Lever):
    """Writes the program as an ONNX file, so that faster runtimes can run it.

    Helps nearly always: the same numbers within rounding, 1.5 to 5 times faster than PyTorch eager on a CPU. Hurts
    hardly ever: operators without an ONNX counterpart are named and end it, and a batch axis that was fixed when the
    program was exported stays fixed. Source: PyTorch, torch.onnx.export with dynamo=True.
    """

    title = "PyTorch to ONNX"
    accepts = frozenset({"torch_export"})
    produces = "onnx"
    libraries = ("torch", "onnx", "onnxscript", "onnxruntime")
    exact = True

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """PyTorch eager is a weak baseline on every CPU that was tried."""
        gain = {"convolutions": "1.4 to 6", "transformer": "1.6 to 1.9", "dense": "2 to 4"}.get(kind_of(manifest) or "")
        return Prediction("Likely faster", f"ONNX Runtime ran such nets {gain or '1.5 to 5'} times faster than eager")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write model.onnx with the inputs and outputs of the program under the same names."""
        import torch

        signature = source.manifest.signature
        large = is_large(source.folder)
        context.progress(0.1, "reading the program")
        program = torch_program.load(source.folder)
        context.progress(0.3, "writing ONNX")
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
            raise DoesNotFit(f"PyTorch cannot write this program as ONNX: {_cause(error)}") from error
        context.progress(0.8, "checking that it loads")
        model = load_model(out)
        if not large:
            save_model(model, out)
        check_result(out, signature)
        opset = next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
        notes: dict[str, Any] = {
            "nodes": sum(operators(model).values()),
            "opset": opset,
            "bytes_before": folder_bytes(source.folder),
            "bytes_after": folder_bytes(out),
        }
        if signature.fixed_batch is not None:
            notes["remark"] = (
                f"the batch stays fixed at {signature.fixed_batch}, as in the program; export it with "
                "dynamic_shapes={0: torch.export.Dim('batch')} to free it"
            )
        return notes


def _cause(error: BaseException) -> str:
    """The innermost reason in one line; the outer ones are advice about reports and versions."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error).strip().split("\n")[0][:300]
