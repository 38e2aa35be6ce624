"""An exported PyTorch program or a TorchScript module to ONNX."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.errors import DoesNotFit
from engine.graph import torch_program, torchscript_program
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
from engine.graph.torch_onnx import cause, write_onnx
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest

SCRIPT_OPSET = 17  # the newest that the older exporter writes without gaps


class TorchToOnnx(Lever):
    """Writes the program as an ONNX file, so that faster runtimes can run it.

    Helps nearly always: the same numbers within rounding, 1.5 to 5 times faster than PyTorch eager on a CPU. Hurts
    hardly ever: operators without an ONNX counterpart are named and end it, and a batch axis that was fixed when the
    program was exported stays fixed. Source: PyTorch, torch.onnx.export, with dynamo=True for torch.export programs
    and dynamo=False for TorchScript, which the newer exporter does not take.
    """

    title = "PyTorch to ONNX"
    accepts = frozenset({"torch_export", "torchscript"})
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
        signature = source.manifest.signature
        large = is_large(source.folder)
        context.progress(0.3, "writing ONNX")
        if source.manifest.format == "torchscript":
            _write_script(source, out, large)
        else:
            write_onnx(torch_program.load(source.folder), out, signature, large=large)
        context.progress(0.8, "checking that it loads")
        model = load_model(out)
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


def _write_script(source: Artefact, out: Path, large: bool) -> None:
    """The older exporter, which takes neither dictionaries nor 2 GB: for those the module becomes a program first."""
    import torch

    signature = source.manifest.signature
    module = torchscript_program.load(source.folder)
    given = torchscript_program.examples(signature)
    with torch.inference_mode():
        nested = not isinstance(module(*given), torch.Tensor | tuple)
    if nested or large:
        write_onnx(torchscript_program.as_program(module, signature), out, signature, large=large)
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                module,
                tuple(given),
                out / MODEL_FILE,
                dynamo=False,
                opset_version=SCRIPT_OPSET,
                input_names=[spec.name for spec in signature.inputs],
                output_names=[spec.name for spec in signature.outputs],
                dynamic_axes={
                    spec.name: {axis: size for axis, size in enumerate(spec.shape) if isinstance(size, str)}
                    for spec in (*signature.inputs, *signature.outputs)
                },
            )
    except (torch.onnx.errors.OnnxExporterError, torch.onnx.errors.UnsupportedOperatorError) as error:
        raise DoesNotFit(f"PyTorch cannot write this program as ONNX: {cause(error)}") from error
    save_model(load_model(out), out)
