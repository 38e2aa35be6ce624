"""XGBoost trees as LightGBM text, which every other tree lever and runtime reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest


class XgboostToLightgbm(Lever):
    """Writes the same trees, classes and link as LightGBM text: thresholds decide as XGBoost does, sums are in double.

    Helps everything that comes after it: pruning, binned trees and exact ONNX read LightGBM text. Answers agree to the
    seventh digit, because XGBoost adds up in single precision; values between 0 and ±1e-35 count as 0. Hurts models
    that LightGBM cannot hold (several outputs that are no classes, missing categories on the side of the set): refused.
    Source: XGBoost, documentation of the JSON model format; LightGBM, its text format.
    """

    title = "XGBoost to LightGBM text"
    accepts = frozenset({"xgboost"})
    produces = "lightgbm"

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """It opens the way to faster runtimes and is not one itself."""
        return Prediction("Worth a try", "alone about as fast as before; it lets the tree levers and runtimes in")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write model.txt. Raises DoesNotFit for what LightGBM text cannot hold."""
        from engine.forest.payload import FILE, save_forest
        from engine.forest.xgboost_forest import to_forest
        from engine.forest.xgboost_model import load

        path = source.folder / "model.ubj"
        forest = to_forest(load(path))
        save_forest(forest, out)
        return {
            "n_trees": len(forest.trees),
            "splits": sum(tree.n_nodes for tree in forest.trees),
            "link": forest.objective.link,
            "thresholds": "decide as XGBoost does for every number beyond ±1e-35",
            "sums": "double precision, XGBoost's are single",
            "bytes_before": path.stat().st_size,
            "bytes_after": (out / FILE).stat().st_size,
        }
