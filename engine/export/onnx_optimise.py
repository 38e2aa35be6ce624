"""Simplify an ONNX graph once, ahead of time."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from engine.graph.onnx_files import (
    DATA_FILE,
    check_result,
    folder_bytes,
    is_large,
    load_model,
    operators,
    save_model,
)
from engine.graph.onnx_session import MODEL_FILE, open_session
from engine.graph.zipmap import drop_zipmap
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest


class OnnxOptimise(Lever):
    """Lets ONNX Runtime fold constants and fuse operators and keeps the result as the file.

    Helps mainly the load time, because the runtime does the same work each time it opens the file; the calls
    themselves stay about equal. Dropping ZipMap saves most of the time of small scikit-learn classifiers, whose answers
    else become Python dictionaries. Hurts transformers at times, whose fused LayerNormalization is slow on CPUs; with
    'all' the file is laid out for this processor and belongs to it. Source: ONNX Runtime, Graph optimizations.
    """

    title = "Optimise the ONNX graph"
    accepts = frozenset({"onnx"})
    libraries = ("onnx", "onnxruntime")
    exact = True
    machine_bound = True  # what is fused depends on the kernels that this processor has

    level: Literal["basic", "extended", "all"] = Field(
        "extended",
        description="'basic' keeps standard operators; 'extended' adds ONNX Runtime's fused ones; 'all' adds the "
        "memory layout of this processor, and the file runs best, or only, on its like.",
    )
    remove_zipmap: bool = Field(
        False, description="Give the class probabilities as one array instead of a dictionary per row."
    )

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """The runtime does the same when it opens the file; only ZipMap costs each call."""
        if "ZipMap" in manifest.operators:
            return Prediction("Worth a try", "set 'remove zipmap': then no dictionary is made per row")
        return Prediction("No difference", "the runtime does the same when it opens the file; it will open sooner")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write the optimised model.onnx."""
        model = load_model(source.folder)
        before = operators(model)
        notes: dict[str, Any] = {"nodes_before": sum(before.values())}
        with tempfile.TemporaryDirectory() as folder:
            if self.remove_zipmap:
                notes["zipmaps_removed"] = drop_zipmap(model)
            save_model(model, Path(folder))  # in one piece: else the result would point to the source's weight file
            context.progress(0.2, "optimising")
            written = Path(folder) / "optimised"
            written.mkdir()
            open_session(
                Path(folder) / MODEL_FILE,
                threads=context.threads,
                level=self.level,
                write_optimised=written / MODEL_FILE,
                data_file=DATA_FILE if is_large(source.folder) else None,
            )
            model = load_model(written)
        save_model(model, out)
        context.progress(0.8, "checking that it loads")
        check_result(out, source.manifest.signature)
        after = operators(model)
        notes |= {
            "nodes_after": sum(after.values()),
            "bytes_before": folder_bytes(source.folder),
            "bytes_after": folder_bytes(out),
        }
        fused = sorted(set(after) - set(before))
        if fused:
            notes["new_operators"] = ", ".join(fused)
        if any(node.domain == "com.microsoft.nchwc" for node in model.graph.node):
            notes["remark"] = "laid out for this processor: measure it again on any other, and keep the source file"
        return notes
