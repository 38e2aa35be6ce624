"""Check the arrays handed to a runtime against what the model takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from engine.errors import Mismatch
from engine.records import Signature, TensorSpec


def input_check(signature: Signature) -> Callable[[Mapping[str, np.ndarray]], None]:
    """A check that is cheap enough to run before every call. Raises Mismatch naming the input."""
    specs = {spec.name: spec for spec in signature.inputs}

    def check(inputs: Mapping[str, np.ndarray]) -> None:
        if inputs.keys() != specs.keys():
            raise Mismatch(f"the model takes the inputs {', '.join(specs)}; got {', '.join(inputs) or 'none'}")
        for name, values in inputs.items():
            _check_one(specs[name], values)

    return check


def _check_one(spec: TensorSpec, values: np.ndarray) -> None:
    text = values.dtype.kind in "UO"
    if text != (spec.dtype == "string") or (not text and values.dtype.name != spec.dtype):
        raise Mismatch(f"input {spec.name!r} is {values.dtype}, the model takes {spec.dtype}")
    fits = values.ndim == len(spec.shape) and all(
        size == axis for size, axis in zip(values.shape, spec.shape, strict=True) if isinstance(axis, int)
    )
    if not fits:
        raise Mismatch(f"input {spec.name!r} has shape {values.shape}, the model takes {spec.shape}")
