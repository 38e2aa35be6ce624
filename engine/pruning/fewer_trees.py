"""Keep only the first boosting rounds of a LightGBM model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from engine.errors import DoesNotFit
from engine.graph.onnx_files import folder_bytes
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest

HARDLY_ANY = 30  # trees that take less time than the rest of the call


class FewerTrees(Lever):
    """Keeps the first boosting rounds and drops the rest.

    Time and size fall about in step with the trees. Helps where the last rounds hardly move the metric; random forests
    lose almost nothing. Hurts models that stopped early, and DART, whose early trees were scaled for the whole.
    Source: Friedman (2001), Greedy Function Approximation, section 5: the number of rounds is a regulariser.
    """

    title = "Fewer trees"
    accepts = frozenset({"lightgbm"})

    keep_fraction: float = Field(0.5, gt=0.0, le=1.0, description="Share of the boosting rounds to keep.")
    keep_rounds: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="Boosting rounds to keep; 0: as keep_fraction says. One round: a tree per class.",
    )

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """Faster as long as the trees are what a call consists of."""
        if manifest.n_trees is not None and manifest.n_trees <= HARDLY_ANY:
            return Prediction("No difference", f"of a call with {manifest.n_trees} trees most is not trees")
        return Prediction("Likely faster", "time falls about in step with the trees; the price is paid in quality")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write model.txt with the first rounds. Raises DoesNotFit when fewer rounds exist than are to be kept."""
        from engine.forest.lightgbm_text import load, write

        forest = load(source.folder / "model.txt")
        if self.keep_rounds > forest.n_rounds:
            raise DoesNotFit(f"keep_rounds is {self.keep_rounds}, the model has {forest.n_rounds} boosting rounds")
        kept = forest.first_rounds(self.keep_rounds or max(1, round(forest.n_rounds * self.keep_fraction)))
        (out / "model.txt").write_text(write(kept), encoding="utf-8", newline="\n")
        notes: dict[str, Any] = {
            "n_trees": len(kept.trees),
            "trees_before": len(forest.trees),
            "trees_after": len(kept.trees),
            "bytes_before": folder_bytes(source.folder),
            "bytes_after": folder_bytes(out),
        }
        if forest.boosting == "dart":
            notes["remark"] = "DART scaled its trees for the whole forest: the first ones alone are miscalibrated"
        if forest.averaged:
            notes["remark"] = f"averages over {kept.n_rounds} trees now"
        return notes
