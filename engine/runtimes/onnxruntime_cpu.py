"""ONNX Runtime on the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from pydantic import Field

from engine.errors import Mismatch
from engine.graph.inputs import input_check
from engine.graph.onnx_session import FUSED_LAYER_NORM, MODEL_FILE, Level, open_session, ort_errors, reason
from engine.plugin import Artefact, Predict, Runtime


class OnnxruntimeCpu(Runtime):
    """Runs an ONNX file with ONNX Runtime's CPU kernels; defines right for ONNX.

    Helps nearly always against PyTorch eager. Threads help big models; for calls under a millisecond one thread is
    best. The default settings are ONNX Runtime's own, except that idle threads sleep instead of spinning.
    """

    title = "ONNX Runtime, CPU"
    accepts = frozenset({"onnx"})
    libraries = ("onnxruntime",)
    reference = True

    optimisation: Level = Field(
        "all",
        description="Graph optimisation when the file is loaded. 'all' suits convolutions; transformers are often "
        "faster with 'basic'.",
    )
    fuse_layer_norm: bool = Field(
        True,
        description="Fuse Add and LayerNormalization into one operator. Off is often 10-40 % faster for transformers "
        "on CPUs, whose fused kernel is slow; it changes nothing elsewhere.",
    )
    spinning: bool = Field(
        False,
        description="Idle threads wait by spinning: a little quicker with several threads on an idle machine, much "
        "slower where others share the cores.",
    )

    @contextmanager
    def open(self, artefact: Artefact, threads: int = 1) -> Iterator[Predict]:
        """Yield predict: input name -> array as the file declares it, to output name -> array."""
        session = open_session(
            artefact.folder / MODEL_FILE,
            threads=threads,
            level=self.optimisation,
            spinning=self.spinning,
            disabled=() if self.fuse_layer_norm else FUSED_LAYER_NORM,
        )
        check = input_check(artefact.manifest.signature)
        names = [output.name for output in session.get_outputs()]
        errors = ort_errors()

        def predict(inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            check(inputs)
            try:
                values = session.run(None, dict(inputs))
            except errors as error:
                raise Mismatch(f"ONNX Runtime stopped on these rows: {reason(error)}") from error
            return {name: _array(value) for name, value in zip(names, values, strict=True)}

        yield predict


def _array(value: list[dict[Any, float]] | np.ndarray) -> np.ndarray:
    """A tensor as it is, text as fixed-width text, ZipMap's list of dicts as (n, K) with columns ordered by key."""
    if isinstance(value, list):
        keys = sorted(value[0])
        return np.array([[row[key] for key in keys] for row in value], np.float32)
    return value.astype(np.str_) if value.dtype == object else value
