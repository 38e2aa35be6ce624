"""The smallest weights set to zero."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from engine.errors import DoesNotFit
from engine.graph.onnx_files import all_nodes, check_result, folder_bytes, load_model, save_model
from engine.graph.onnx_quantise import NOTHING_INSIDE, why_nothing_inside
from engine.graph.onnx_weights import constants, to_array
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest

_LAYERS = ("MatMul", "Gemm", "Conv", "ConvTranspose")


class Weights(Lever):
    """Sets the smallest weights of dense layers and convolutions to zero; the file keeps its shape.

    Helps where the file is sent or kept compressed: at half of the weights it packs to about 60 %. Hurts accuracy as
    the share grows, since nothing is trained again. It does not make a model faster: dense kernels multiply by zero as
    by any number (measured equal at 50, 80 and 95 %), and the raw file stays as large. Source: Han et al. (2015),
    Learning both Weights and Connections for Efficient Neural Networks, without its training.
    """

    title = "Zero small weights"
    accepts = frozenset({"onnx"})
    libraries = ("onnx", "onnxruntime")

    share: float = Field(0.5, gt=0.0, lt=1.0, description="Share of the weights to set to zero.")
    within: Literal["layer", "net"] = Field(
        "layer",
        description="'layer': the same share of each layer. 'net': the smallest of all, so that wide layers lose more.",
    )
    spare_last: bool = Field(True, description="Leave the last layer as it is: its weights decide most directly.")

    @classmethod
    def fits(cls, manifest: Manifest, machine: Mapping[str, Any]) -> str | None:
        """As every plug-in; and a file without stored weights has nothing to prune."""
        return super().fits(manifest, machine) or why_nothing_inside(manifest)

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """Zeros are multiplied like other numbers."""
        return Prediction("No difference", "dense kernels multiply zeros too: only the compressed size falls")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write model.onnx with zeros. Raises DoesNotFit when no weight was changed."""
        import numpy as np
        from onnx import TensorProto, numpy_helper

        model = load_model(source.folder)
        stored = constants(model)
        names = [node.input[1] for node in all_nodes(model) if node.op_type in _LAYERS and len(node.input) > 1]
        names = [
            name for name in dict.fromkeys(names) if name in stored and stored[name].data_type == TensorProto.FLOAT
        ]
        if not names:
            raise DoesNotFit(NOTHING_INSIDE)
        kept = names[:-1] if self.spare_last and len(names) > 1 else names
        values = {name: to_array(stored[name]) for name in kept}
        everything = np.abs(np.concatenate([value.ravel() for value in values.values()]))
        limit = np.quantile(everything, self.share)
        n_zero = n_new = 0
        for position, (name, value) in enumerate(values.items()):
            context.progress(0.1 + 0.6 * position / len(values), f"layer {position + 1} of {len(values)}")
            bound = limit if self.within == "net" else np.quantile(np.abs(value), self.share)
            pruned = np.where(np.abs(value) <= bound, np.float32(0), value)
            n_zero += int((pruned == 0).sum())
            n_new += int((pruned != value).sum())
            stored[name].CopyFrom(numpy_helper.from_array(pruned, stored[name].name))
        if n_new == 0:
            raise DoesNotFit(f"no weight was changed: {n_zero:,} are zero already")
        save_model(model, out)
        context.progress(0.8, "checking that it loads")
        check_result(out, source.manifest.signature)
        return {
            "layers": len(values),
            "zeros": n_zero,
            "sparsity": n_zero / len(everything),
            "bytes_before": folder_bytes(source.folder),
            "bytes_after": folder_bytes(out),
            "compressed_bytes_before": _compressed(source.folder),
            "compressed_bytes_after": _compressed(out),
            "remark": "no speed gain with dense kernels, and the raw file stays as large: compressed it is smaller",
        }


def _compressed(folder: Path) -> int:
    """Bytes of the payload as gzip would pack it (level 6), read piece by piece."""
    total = 0
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        packer = zlib.compressobj(6)
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                total += len(packer.compress(piece))
        total += len(packer.flush())
    return total
