"""Thresholds as 8- or 16-bit bins: the lossless quantisation of trees."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest


class TreeBins(Lever):
    """Numbers the thresholds of each feature and packs the trees for the runtime `trees_binned`; nothing is rounded.

    This is what 8 bits can do for trees. "INT8 through ONNX" cannot: ONNX Runtime's quantisation finds no matrix in a
    tree operator and changes nothing, or rounds its output only; trees written as matrices get slower. Bins compare in
    8 or 16 bits and decide as the thresholds do, so answers stay the same bit for bit.
    Helps at every batch size, most from some dozens of rows on; the file shrinks several times.
    Hurts where another program has to read the model: `trees_binned` and its small loader do. Refused for linear leaves
    and for more thresholds than 16 bits number.
    Source: Ke et al. (2017), LightGBM (histogram bins); Lucchese et al. (2015), QuickScorer.
    """

    title = "Binned trees"
    accepts = frozenset({"lightgbm"})
    produces = "trees_binned"
    exact = True

    @classmethod
    def fits(cls, manifest: Manifest, machine: Mapping[str, Any]) -> str | None:
        """As every plug-in; linear leaves have no packed form."""
        from engine.forest.payload import why_not

        return super().fits(manifest, machine) or why_not(manifest.versions)

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """Measured on forests of 500 to 1,500 trees."""
        return Prediction("Likely faster", "4 to 5 times on single rows, 20 to 60 times from a thousand rows on")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write forest.npz. Raises DoesNotFit for what cannot be packed."""
        from engine.forest.binned import pack, write
        from engine.forest.payload import load_forest

        forest = load_forest(source.folder)
        rows = context.calibration if context.calibration.n_rows else context.train
        packed = pack(forest, next(iter(rows.inputs.values())) if rows.n_rows else None)
        context.progress(0.8, "writing")
        write(packed, out)
        return {
            "structure": "exact: every row takes the same way as before",
            "bytes_before": (source.folder / "model.txt").stat().st_size,
            "bytes_after": sum(path.stat().st_size for path in out.iterdir()),
            **packed.facts,
        }
