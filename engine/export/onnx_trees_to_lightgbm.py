"""ONNX tree ensembles as LightGBM text, which every other tree lever and runtime reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.errors import DoesNotFit
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest, Signature

_OPERATORS = {"TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor"}
_NONE = "no trees inside: the graph has no TreeEnsemble operator"


class OnnxTreesToLightgbm(Lever):
    """Writes the trees of an ONNX file as LightGBM text: scikit-learn's forests and boosting come in through skl2onnx.

    Thresholds, missing values, classes and link stay. Inputs stay in the type the file takes, float32 as a rule: what
    was rounded when the file was made stays rounded. Sums are taken in double where ONNX Runtime adds in single
    precision, so answers agree to the seventh digit; values between 0 and ±1e-35 count as 0.
    Helps everything that comes after it: pruning, leaf refit and binned trees. Hurts where another program has to read
    ONNX. Refused: ZipMap, equality and category nodes, minimum or maximum over trees.
    Source: ONNX, operators of ai.onnx.ml.
    """

    title = "ONNX trees to LightGBM text"
    accepts = frozenset({"onnx"})
    produces = "lightgbm"

    @classmethod
    def fits(cls, manifest: Manifest, machine: Mapping[str, Any]) -> str | None:
        """As every plug-in; and there must be trees, one input of columns and scores that are numbers."""
        return super().fits(manifest, machine) or _why_not(manifest)

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """It opens the way to faster runtimes and is not one itself."""
        return Prediction("Worth a try", "alone about as fast as before; it lets the tree levers and runtimes in")

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write model.txt. Raises DoesNotFit for what LightGBM text cannot hold."""
        import onnx

        from engine.forest.onnx_forest import to_forest
        from engine.forest.payload import FILE, save_forest
        from engine.graph.onnx_session import MODEL_FILE

        if reason := _why_not(source.manifest):
            raise DoesNotFit(reason)
        path = source.folder / MODEL_FILE
        spec = source.manifest.signature.inputs[0]
        forest = to_forest(onnx.load(path), _names(source.manifest.signature), spec.dtype == "float32")
        save_forest(forest, out)
        return {
            "n_trees": len(forest.trees),
            "splits": sum(tree.n_nodes for tree in forest.trees),
            "link": forest.objective.link,
            "inputs": f"{spec.dtype}, as the file takes them",
            "sums": "double precision, ONNX Runtime's are single",
            "bytes_before": path.stat().st_size,
            "bytes_after": (out / FILE).stat().st_size,
        }


def _why_not(manifest: Manifest) -> str | None:
    if manifest.operators and not _OPERATORS & set(manifest.operators):
        return _NONE
    signature = manifest.signature
    if len(signature.inputs) != 1 or len(signature.inputs[0].shape) != 2:
        return "needs one input of columns"
    if not isinstance(signature.inputs[0].shape[1], int) or signature.inputs[0].dtype not in ("float32", "float64"):
        return f"needs a known number of float columns, the input is {signature.inputs[0].dtype}"
    if len(signature.outputs) > 2 or (len(signature.outputs) == 2 and not signature.classes):
        return "needs one output of scores, and a label of known classes at most"
    return None


def _names(signature: Signature) -> tuple[str, ...]:
    """Feature names that LightGBM text can hold."""
    from engine.forest.xgboost_forest import plain

    width = signature.inputs[0].shape[1]
    assert isinstance(width, int)
    return plain(signature.inputs[0].columns or tuple(f"f{i}" for i in range(width)))
