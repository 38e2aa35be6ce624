"""Columns that need not be fetched any more: the splits on them go, the leaves make up for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from engine.errors import DoesNotFit
from engine.forest.fields import MaxRows, MixedRows, Strength
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest


class FewerFeatures(Lever):
    """Takes out the features whose absence moves the scores least, and refits the leaves to the original's scores.

    The model takes the same columns as before and never reads those that went: fill them with anything. Needs rows, no
    labels. Not exact. Helps where a feature costs a fetch, far more than by the splits it saves. Hurts where two
    features stand in for each other: they are judged one by one, so both may go.
    Source: Breiman (2001), random forests (importance of a variable by its absence), with the answers as the measure.
    """

    title = "Fewer features"
    accepts = frozenset({"lightgbm"})
    libraries = ("lightgbm", "scipy")

    keep_fraction: float = Field(0.5, gt=0.0, le=1.0, description="Share of the features in use to keep.")
    keep_features: int = Field(
        0,
        ge=0,
        le=100_000,
        description="Features to keep; 0: as keep_fraction says. Those the trees never read are free.",
    )
    strength: Strength = 30.0
    max_rows: MaxRows = 20_000
    mixed_rows: MixedRows = 2.0

    @classmethod
    def fits(cls, manifest: Manifest, machine: Mapping[str, Any]) -> str | None:
        """As every plug-in; and linear leaves read features of their own."""
        from engine.forest.payload import why_not

        return super().fits(manifest, machine) or why_not(manifest.versions)

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """What it saves lies outside the model."""
        return Prediction("Worth a try", "the model itself gains little; what pays is that fewer columns are fetched")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write model.txt without those features. Raises DoesNotFit without rows or where nothing is to go."""
        import numpy as np

        from engine.forest.features import majority, score_changes, used_features, without
        from engine.forest.payload import change_notes, load_forest, save_forest
        from engine.forest.refit import refit
        from engine.forest.routes import leaf_routes, margins, root_mean_square, route

        forest = load_forest(source.folder)
        used = used_features(forest)
        n_keep = self.keep_features or max(1, round(len(used) * self.keep_fraction))
        if n_keep >= len(used):
            raise DoesNotFit(f"{n_keep} features are to stay and the trees read {len(used)}: nothing is to go")
        context.progress(0.05, f"rows through {len(forest.trees):,} trees")
        splits = (context.train.inputs, context.calibration.inputs)
        sent = route(forest, splits, self.max_rows, context.seed, context.threads, self.mixed_rows)
        sides = majority(forest, sent.routes)
        tell = context.progress
        changes = score_changes(forest, sent, sides, context.threads, lambda part, text: tell(0.1 + 0.6 * part, text))
        gone = list(changes)[: len(used) - n_keep]
        smaller = without(forest, np.array(gone), sides)
        context.progress(0.75, "refitting the leaves")
        routes = leaf_routes(smaller, sent.rows, context.threads)
        refitted = refit(smaller, routes, sent.scores, self.strength)
        save_forest(refitted, out)
        return change_notes(forest, refitted, source.folder, out) | {
            "features_before": len(used),
            "features_after": len(used_features(refitted)),
            "dropped": ", ".join(forest.feature_names[i] for i in gone),
            "rows_used": sent.n_real,
            "rows_made_up": len(sent.rows) - sent.n_real,
            "score_gap_dropped": root_mean_square(margins(smaller, routes) - sent.scores),
            "score_gap_refitted": root_mean_square(margins(refitted, routes) - sent.scores),
        }
