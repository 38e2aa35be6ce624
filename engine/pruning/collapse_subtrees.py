"""Smaller trees: subtrees that hardly matter become one leaf."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from engine.errors import DoesNotFit
from engine.forest.fields import MaxRows
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest


class CollapseSubtrees(Lever):
    """Turns the subtrees that change the scores least into one leaf each, over all trees together.

    Works with rows of this study, which count what is served today, or without any data (rows per leaf as the file has
    them). Not exact. Helps runtimes whose time goes with the splits or the depth; two thirds of the splits are kept
    almost for free. Hurts more than dropping trees with refitted leaves when half and more of the splits go.
    Source: Breiman et al. (1984), weakest-link pruning, over all trees and with the original's leaves as the truth.
    """

    title = "Smaller trees"
    accepts = frozenset({"lightgbm"})
    libraries = ("lightgbm",)

    keep_fraction: float = Field(0.67, gt=0.0, le=1.0, description="Share of all splits to keep, at most.")
    counts: Literal["rows", "file"] = Field(
        "rows",
        description="Where the weight of a leaf comes from: rows of this study, or the training counts in the file.",
    )
    max_rows: MaxRows = 20_000

    @classmethod
    def fits(cls, manifest: Manifest, machine: Mapping[str, Any]) -> str | None:
        """As every plug-in; and linear leaves cannot be averaged."""
        from engine.forest.payload import why_not

        return super().fits(manifest, machine) or why_not(manifest.versions)

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """Smaller trees are shallower; LightGBM's time goes with the depth."""
        return Prediction(
            "Worth a try", "time falls less than the splits do: the ways through the trees stay nearly as long"
        )

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write model.txt with fewer splits. Raises DoesNotFit without counts or where nothing can go."""
        from engine.forest.collapse import collapse
        from engine.forest.payload import change_notes, load_forest, save_forest, stored_counts
        from engine.forest.routes import leaf_counts, route

        forest = load_forest(source.folder)
        total = sum(tree.n_nodes for tree in forest.trees)
        if not total:
            raise DoesNotFit("the trees have no split: there is nothing to collapse")
        if self.counts == "file":
            counts = stored_counts(forest)
        else:
            splits = (context.train.inputs, context.calibration.inputs)
            sent = route(forest, splits, self.max_rows, context.seed, context.threads)
            counts = leaf_counts(forest, sent.routes)
        context.progress(0.5, f"{total:,} splits")
        smaller = collapse(forest, counts, max(1, round(total * self.keep_fraction)))
        save_forest(smaller, out)
        return change_notes(forest, smaller, source.folder, out) | {
            "counted": "rows of this study" if self.counts == "rows" else "training rows, as the file has them",
            "trees_without_splits": sum(tree.n_nodes == 0 for tree in smaller.trees),
        }
