"""Boosted trees to ONNX, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.graph.onnx_files import check_result, folder_bytes, save_model
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest

FEW_TREES = 600


class LightgbmToOnnx(Lever):
    """Writes the trees as one ONNX operator in double precision, with missing values, categories, link and averaging.

    Gives LightGBM's own answers. Helps from a batch of about 8 rows on (1.5 to 2.5 times); for single rows it is
    between a little faster and a little slower. Hurts nothing but what it cannot hold: linear trees and custom
    objectives have no ONNX form and are refused. Source: ONNX, operator TreeEnsemble of ai.onnx.ml 5.
    """

    title = "LightGBM to ONNX"
    accepts = frozenset({"lightgbm"})
    produces = "onnx"
    libraries = ("onnx", "onnxruntime")
    exact = True

    @classmethod
    def fits(cls, manifest: Manifest, machine: Mapping[str, Any]) -> str | None:
        """As every plug-in; and a custom objective or linear leaves have no ONNX form."""
        if manifest.versions.get("leaves") == "linear":
            from engine.forest.onnx_tree_ensemble import LINEAR

            return LINEAR
        if manifest.versions.get("objective", "").split(" ")[0] in ("custom", "none"):
            return "the objective is custom: ONNX cannot hold a link that the file does not name"
        if reason := super().fits(manifest, machine):
            return reason
        if len(manifest.signature.outputs) > 1 or manifest.signature.inputs[0].dtype != "float64":
            return (
                "the trees came from ONNX and keep its float32 inputs or its label; quantisation.tree_bins takes them"
            )
        return None

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """By what was measured on forests of 500 to 1,500 trees, with and without categories."""
        if any(spec.categories for spec in manifest.signature.inputs):
            return Prediction("Worth a try", "trees that split on categories gain 1.1 to 1.4 times in large batches")
        if manifest.n_trees is not None and manifest.n_trees <= FEW_TREES:
            return Prediction(
                "Likely faster", f"with {manifest.n_trees:,} trees it gains 1.3 to 2 times, single rows included"
            )
        return Prediction(
            "Worth a try", "from 32 rows a call on it gains about 2 times; on single rows 1.2 times at most"
        )

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write model.onnx with input and output named as the source's."""
        from engine.forest.lightgbm_text import load
        from engine.forest.onnx_tree_ensemble import to_onnx

        signature = source.manifest.signature
        forest = load(source.folder / "model.txt")
        context.progress(0.3, f"{len(forest.trees):,} trees")
        save_model(to_onnx(forest, signature.inputs[0].name, signature.outputs[0].name), out)
        context.progress(0.8, "checking that it loads")
        check_result(out, signature)
        return {
            "trees": len(forest.trees),
            "splits": sum(tree.n_nodes for tree in forest.trees),
            "link": forest.objective.link,
            "bytes_before": folder_bytes(source.folder),
            "bytes_after": folder_bytes(out),
        }
