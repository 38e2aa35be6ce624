"""Scores of trees as the outputs a model has: those of LightGBM, or of the ONNX file the trees came from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.errors import BadModel
from engine.records import Signature

Outputs = Callable[[np.ndarray], dict[str, np.ndarray]]


def outputs_of(signature: Signature) -> Outputs:
    """A function from scores, (n,) or (n, n_classes) float64, to the named outputs.

    One output: the scores in its type and shape. A second one, of whole numbers or text: the class with the highest
    score. Raises BadModel for a signature that trees cannot have.
    """
    named = signature.score_output or signature.outputs[0].name
    score = next(spec for spec in signature.outputs if spec.name == named)
    labels = [spec for spec in signature.outputs if spec is not score]
    if not labels and score.dtype == "float64" and (len(score.shape) == 1 or score.shape[1] != 2):
        return lambda scores: {named: scores}
    if len(labels) > 1 or any(len(spec.shape) > 2 for spec in signature.outputs):
        raise BadModel(f"trees give scores and perhaps a label, not {[spec.name for spec in signature.outputs]}")
    width = score.shape[1] if len(score.shape) == 2 else None
    classes = _classes(signature, labels[0].dtype) if labels else None

    def outputs(scores: np.ndarray) -> dict[str, np.ndarray]:
        if scores.ndim == 1 and width is not None:
            alone = classes is None and width != 2
            scores = scores[:, None] if alone else np.stack([1.0 - scores, scores], axis=1)
        found = {named: scores.astype(score.dtype, copy=False)}
        if classes is not None:
            found[labels[0].name] = classes[scores.argmax(axis=1)]
        return found

    return outputs


def _classes(signature: Signature, dtype: str) -> np.ndarray:
    if not signature.classes:
        raise BadModel("the model has a label output and names no classes")
    return np.array(signature.classes, object) if dtype == "string" else np.array(signature.classes).astype(dtype)
