"""Fewer boosting rounds whose leaves make up for the rounds that went."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from engine.forest.fields import KeepRounds, MaxRows, MixedRows, Strength
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest

HARDLY_ANY = 30  # trees that take less time than the rest of the call


class RefitLeaves(Lever):
    """Keeps some boosting rounds and sets their leaves anew, so that they add up to the original's scores.

    Needs rows, but no labels. Not exact; the notes say how far the scores are from the original's.
    Helps to drop two thirds of the rounds at a loss that truncation and as a rule retraining cannot match.
    Hurts nothing but the seconds or minutes it takes where the first rounds alone are as good (random forests); with
    only a few hundred rows it fits their noise: raise `strength`.
    Source: Johnson and Zhang (2014), regularised greedy forests (fully corrective leaves), without their labels.
    """

    title = "Fewer trees, leaves refitted"
    accepts = frozenset({"lightgbm"})
    libraries = ("lightgbm", "scipy")

    keep_fraction: float = Field(0.34, gt=0.0, le=1.0, description="Share of the boosting rounds to keep.")
    keep_rounds: KeepRounds = 0
    rounds: Literal["first", "spread"] = Field(
        "spread",
        description="Which rounds stay: at even distances over the whole training, or the first ones. Which is better "
        "depends on the model; the first ones are, as a rule, where rows are many.",
    )
    strength: Strength = 30.0
    max_rows: MaxRows = 20_000
    mixed_rows: MixedRows = 2.0

    @classmethod
    def fits(cls, manifest: Manifest, machine: Mapping[str, Any]) -> str | None:
        """As every plug-in; and linear leaves have no single value to set."""
        from engine.forest.payload import why_not

        return super().fits(manifest, machine) or why_not(manifest.versions)

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """Faster as long as the trees are what a call consists of."""
        if manifest.n_trees is not None and manifest.n_trees <= HARDLY_ANY:
            return Prediction("No difference", f"of a call with {manifest.n_trees} trees most is not trees")
        return Prediction("Likely faster", "a third of the trees takes about a third of the time, at little loss")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write model.txt with the rounds that stay. Raises DoesNotFit without rows or for linear leaves."""
        import numpy as np

        from engine.forest.payload import change_notes, load_forest, rounds_to_keep, save_forest
        from engine.forest.refit import refit
        from engine.forest.rounds import only_rounds, spread_rounds
        from engine.forest.routes import margins, root_mean_square, route

        forest = load_forest(source.folder)
        n_keep = rounds_to_keep(forest, self.keep_rounds, self.keep_fraction)
        context.progress(0.1, f"rows through {len(forest.trees):,} trees")
        splits = (context.train.inputs, context.calibration.inputs)
        sent = route(forest, splits, self.max_rows, context.seed, context.threads, self.mixed_rows)
        kept = spread_rounds(forest.n_rounds, n_keep) if self.rounds == "spread" else np.arange(n_keep)
        smaller = only_rounds(forest, kept)
        routes = sent.of_rounds(kept)
        context.progress(0.4, f"refitting {sum(len(tree.leaf_value) for tree in smaller.trees):,} leaves")
        refitted = refit(smaller, routes, sent.scores, self.strength)
        save_forest(refitted, out)
        return change_notes(forest, refitted, source.folder, out) | {
            "rows_used": sent.n_real,
            "rows_made_up": len(sent.rows) - sent.n_real,
            "score_gap_truncated": root_mean_square(margins(smaller, routes) - sent.scores),
            "score_gap_refitted": root_mean_square(margins(refitted, routes) - sent.scores),
        }
