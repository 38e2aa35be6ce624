"""A smaller forest trained on the original's scores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from engine.forest.fields import MaxRows
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest


class TreesToTrees(Lever):
    """Trains a forest of few leaves or few rounds to give the original's scores; link and classes stay.

    Needs rows, no labels: unlabelled traffic will do. Not exact. Helps where trees of few leaves are wanted (a small
    cache, few rows per call), or where the original is a forest of deep trees. Hurts more than refitted leaves where
    trees of the same size are to be fewer.
    Source: Hinton, Vinyals and Dean (2015), distillation; Ba and Caruana (2014), on raw scores.
    """

    title = "Distilled trees"
    accepts = frozenset({"lightgbm"})
    libraries = ("lightgbm",)

    rounds_fraction: float = Field(
        0.5, gt=0.0, le=4.0, description="Boosting rounds of the student, as a share of the original's."
    )
    n_rounds: int = Field(0, ge=0, le=20_000, description="Boosting rounds of the student; 0: as rounds_fraction says.")
    n_leaves: int = Field(8, ge=2, le=256, description="Leaves of one tree at most.")
    learning_rate: float = Field(
        0.1, gt=0.0, le=1.0, description="Share of the remaining gap each round closes; smaller needs more rounds."
    )
    max_rows: MaxRows = 50_000

    @classmethod
    def fits(cls, manifest: Manifest, machine: Mapping[str, Any]) -> str | None:
        """As every plug-in; linear leaves are not read by the levers of trees."""
        from engine.forest.payload import why_not

        return super().fits(manifest, machine) or why_not(manifest.versions)

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """By default a quarter of the leaves and half of the rounds."""
        return Prediction("Likely faster", "half of the rounds and trees of 8 leaves; the price is paid in quality")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write model.txt with the student. Raises DoesNotFit without rows."""
        from engine.forest.distil import distil
        from engine.forest.payload import change_notes, load_forest, save_forest
        from engine.forest.routes import leaf_routes, margins, root_mean_square, route

        teacher = load_forest(source.folder)
        n_rounds = self.n_rounds or max(1, round(teacher.n_rounds * self.rounds_fraction))
        context.progress(0.05, f"rows through {len(teacher.trees):,} trees")
        splits = (context.train.inputs, context.calibration.inputs)
        sent = route(teacher, splits, self.max_rows, context.seed, context.threads)
        student = distil(
            teacher,
            sent.rows,
            sent.scores,
            n_rounds=n_rounds,
            n_leaves=self.n_leaves,
            learning_rate=self.learning_rate,
            seed=context.seed,
            threads=context.threads,
            tell=lambda part, text: context.progress(0.1 + 0.8 * part, text),
        )
        save_forest(student, out)
        gap = margins(student, leaf_routes(student, sent.rows, context.threads)) - sent.scores
        return change_notes(teacher, student, source.folder, out) | {
            "rows_used": sent.n_real,
            "score_gap": root_mean_square(gap),
            "score_spread": root_mean_square(sent.scores - sent.scores.mean(axis=0)),
        }
