"""LightGBM's own predictor."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from engine.errors import BadModel
from engine.forest.outputs import outputs_of
from engine.graph.inputs import input_check
from engine.plugin import Artefact, Predict, Runtime

if TYPE_CHECKING:
    from lightgbm import Booster

_NORMAL, _RAW, _FLOAT64 = 0, 1, 1  # C_API_PREDICT_NORMAL, _RAW_SCORE and C_API_DTYPE_FLOAT64 of LightGBM's c_api.h


class LightgbmNative(Runtime):
    """Runs a LightGBM text model with `Booster.predict`; defines right for LightGBM.

    What most services run today. Each call pays about 50 µs of Python, so single rows are dear; compiled or exported
    trees are usually faster at every batch size.
    """

    title = "LightGBM, native"
    accepts = frozenset({"lightgbm"})
    libraries = ("lightgbm",)
    reference = True

    single_row: bool = Field(
        False,
        description="Answer single rows through LightGBM's C call for them (SingleRowFast), as a careful service does: "
        "1.2 to 2 times faster than Booster.predict at one row, the same bits. Larger batches are not touched.",
    )

    @contextmanager
    def open(self, artefact: Artefact, threads: int = 1) -> Iterator[Predict]:
        """Yield predict: {"features": (n, k) float64} to {"score": (n,) or (n, K) float64}.

        Trees that came from ONNX keep the names and types of its input and outputs.
        """
        import lightgbm

        try:
            booster = lightgbm.Booster(model_file=artefact.folder / "model.txt")
        except (lightgbm.basic.LightGBMError, ValueError) as error:
            raise BadModel(f"LightGBM {lightgbm.__version__} cannot load this model: {error}") from error
        signature = artefact.manifest.signature
        check, outputs = input_check(signature), outputs_of(signature)
        features = signature.inputs[0].name
        n_classes = booster.num_model_per_iteration()

        def whole(inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            check(inputs)
            return outputs(np.asarray(booster.predict(inputs[features], num_threads=threads)))

        if not self.single_row:
            yield whole
            return
        with single_row_call(booster, n_classes if n_classes > 1 else 0) as one:

            def predict(inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
                if len(inputs.get(features, ())) != 1:
                    return whole(inputs)
                check(inputs)
                return outputs(one(np.ascontiguousarray(inputs[features], np.float64)))

            yield predict


@contextmanager
def single_row_call(
    booster: Booster, n_outputs: int, raw: bool = False
) -> Iterator[Callable[[np.ndarray], np.ndarray]]:
    """Yield call: (1, n_features) float64, contiguous, to (1,) float64, or (1, n_outputs) where n_outputs is not 0."""
    from lightgbm.basic import _LIB, _safe_call

    config, n_written = ctypes.c_void_p(), ctypes.c_int64()
    _safe_call(
        _LIB.LGBM_BoosterPredictForMatSingleRowFastInit(
            booster._handle,
            _RAW if raw else _NORMAL,
            0,
            -1,
            _FLOAT64,
            booster.num_feature(),
            b"num_threads=1",
            ctypes.byref(config),
        )
    )
    written, predict = ctypes.byref(n_written), _LIB.LGBM_BoosterPredictForMatSingleRowFast
    shape = (1, n_outputs) if n_outputs else (1,)

    def call(row: np.ndarray) -> np.ndarray:
        out = np.empty(shape)
        _safe_call(predict(config, ctypes.c_void_p(row.ctypes.data), written, ctypes.c_void_p(out.ctypes.data)))
        return out

    try:
        yield call
    finally:
        _safe_call(_LIB.LGBM_FastConfigFree(config))
