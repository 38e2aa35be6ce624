"""The boosting rounds that matter, chosen by a non-negative lasso."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from engine.forest.fields import KeepRounds, MaxRows, MixedRows, Strength
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest

HARDLY_ANY = 30  # trees that take less time than the rest of the call


class SelectTrees(Lever):
    """Picks the boosting rounds whose weighted sum stays nearest to the original's scores, then refits their leaves.

    Needs rows, but no labels. Not exact. Helps where rounds are unlike in what they add; at a third of the rounds it
    was about as good as rounds at even distances. Hurts most where hardly any are left, and costs more to build.
    Source: Friedman and Popescu (2003), importance sampled learning ensembles (lasso over trees), here non-negative.
    """

    title = "Selected trees"
    accepts = frozenset({"lightgbm"})
    libraries = ("lightgbm", "scipy", "sklearn")

    keep_fraction: float = Field(0.34, gt=0.0, le=1.0, description="Share of the boosting rounds to keep, at most.")
    keep_rounds: KeepRounds = 0
    refit: bool = Field(True, description="Set the leaves of the chosen rounds anew to the original's scores.")
    strength: Strength = 30.0
    choosing_rows: int = Field(
        4_000, ge=100, le=100_000, description="Rows the choice is made on, drawn from the rows used with the seed."
    )
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
        return Prediction("Likely faster", "time falls about in step with the trees; the price is paid in quality")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write model.txt with the chosen rounds. Raises DoesNotFit without rows or for linear leaves."""
        import numpy as np

        from engine.forest.payload import change_notes, load_forest, rounds_to_keep, save_forest
        from engine.forest.refit import recentred, refit
        from engine.forest.rounds import choose_rounds, only_rounds
        from engine.forest.routes import margins, root_mean_square, route

        forest = load_forest(source.folder)
        n_keep = rounds_to_keep(forest, self.keep_rounds, self.keep_fraction)
        context.progress(0.1, f"rows through {len(forest.trees):,} trees")
        splits = (context.train.inputs, context.calibration.inputs)
        sent = route(forest, splits, self.max_rows, context.seed, context.threads, self.mixed_rows)
        context.progress(0.3, f"choosing {n_keep:,} of {forest.n_rounds:,} rounds")
        few = np.random.default_rng(context.seed).permutation(len(sent.rows))[: self.choosing_rows]
        weights = choose_rounds(forest, sent.routes[few], sent.scores[few], n_keep)
        kept = np.flatnonzero(weights)
        routes = sent.of_rounds(kept)
        chosen = recentred(only_rounds(forest, kept, weights), routes, sent.scores)
        context.progress(0.6, "refitting the leaves")
        result = refit(chosen, routes, sent.scores, self.strength) if self.refit else chosen
        save_forest(result, out)
        return change_notes(forest, result, source.folder, out) | {
            "rows_used": sent.n_real,
            "rows_made_up": len(sent.rows) - sent.n_real,
            "score_gap_selected": root_mean_square(margins(chosen, routes) - sent.scores),
            "score_gap": root_mean_square(margins(result, routes) - sent.scores),
        }
