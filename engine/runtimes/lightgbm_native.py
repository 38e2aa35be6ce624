"""LightGBM's own predictor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from engine.errors import BadModel
from engine.graph.inputs import input_check
from engine.plugin import Artefact, Predict, Runtime


class LightgbmNative(Runtime):
    """Runs a LightGBM text model with `Booster.predict`; defines right for LightGBM.

    What most services run today. Each call pays about 50 µs of Python, so single rows are dear; compiled or exported
    trees are usually faster at every batch size.
    """

    title = "LightGBM, native"
    accepts = frozenset({"lightgbm"})
    libraries = ("lightgbm",)
    reference = True

    @contextmanager
    def open(self, artefact: Artefact, threads: int = 1) -> Iterator[Predict]:
        """Yield predict: {"features": (n, k) float64} to {"score": (n,) or (n, K) float64}."""
        import lightgbm

        try:
            booster = lightgbm.Booster(model_file=artefact.folder / "model.txt")
        except (lightgbm.basic.LightGBMError, ValueError) as error:
            raise BadModel(f"LightGBM {lightgbm.__version__} cannot load this model: {error}") from error
        signature = artefact.manifest.signature
        check = input_check(signature)
        features, score = signature.inputs[0].name, signature.outputs[0].name

        def predict(inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            check(inputs)
            return {score: np.asarray(booster.predict(inputs[features], num_threads=threads))}

        yield predict
