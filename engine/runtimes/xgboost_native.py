"""XGBoost's own predictor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from engine.errors import BadModel, Mismatch
from engine.graph.inputs import input_check
from engine.plugin import Artefact, Predict, Runtime


class XgboostNative(Runtime):
    """Runs an XGBoost model with `Booster.inplace_predict`; defines right for XGBoost.

    In single precision, as XGBoost always computes: values are rounded to 32 bits on the way in, and the answers have
    seven digits. Each call pays some 100 µs of Python, so single rows are dear; converted trees are usually faster.
    Infinite values are refused by XGBoost itself.
    """

    title = "XGBoost, native"
    accepts = frozenset({"xgboost"})
    libraries = ("xgboost",)
    reference = True

    @contextmanager
    def open(self, artefact: Artefact, threads: int = 1) -> Iterator[Predict]:
        """Yield predict: {"features": (n, k) float64} to {"score": (n,) or (n, K) float64}."""
        import xgboost

        try:
            booster = xgboost.Booster(params={"nthread": threads}, model_file=artefact.folder / "model.ubj")
        except (xgboost.core.XGBoostError, ValueError) as error:
            raise BadModel(f"XGBoost {xgboost.__version__} cannot load this model: {_first_line(error)}") from error
        signature = artefact.manifest.signature
        check = input_check(signature)
        features, score = signature.inputs[0].name, signature.outputs[0].name

        def predict(inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            check(inputs)
            try:
                found = booster.inplace_predict(inputs[features], validate_features=False)
            except xgboost.core.XGBoostError as error:
                raise Mismatch(f"XGBoost stopped on these rows: {_first_line(error)}") from error
            return {score: np.asarray(found, np.float64)}

        yield predict


def _first_line(error: Exception) -> str:
    """What XGBoost says, without the lines of its own source."""
    text = str(error).strip().splitlines() or [type(error).__name__]
    return text[0].partition("] ")[2][:200] or text[0][:200]
