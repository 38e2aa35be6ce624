"""Check the arrays handed to a runtime against what the model takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from engine.errors import Mismatch
from engine.records import Signature, TensorSpec


def input_check(signature: Signature) -> Callable[[Mapping[str, np.ndarray]], None]:
    """A check that is cheap enough to run before every call (under a microsecond). Raises Mismatch naming the input."""
    specs = {spec.name: spec for spec in signature.inputs}
    wanted = {spec.name: (spec.dtype, len(spec.shape), _fixed(spec)) for spec in signature.inputs}

    def check(inputs: Mapping[str, np.ndarray]) -> None:
        if inputs.keys() != wanted.keys():
            raise Mismatch(f"the model takes the inputs {', '.join(specs)}; got {', '.join(inputs) or 'none'}")
        for name, values in inputs.items():
            dtype, n_axes, fixed = wanted[name]
            if _name(values.dtype) != dtype:
                raise Mismatch(f"input {name!r} is {values.dtype}, the model takes {dtype}")
            shape = values.shape
            if len(shape) != n_axes or any(shape[axis] != size for axis, size in fixed):
                raise Mismatch(f"input {name!r} has shape {shape}, the model takes {specs[name].shape}")

    return check


@lru_cache(maxsize=64)
def _name(dtype: np.dtype) -> str:
    """As specifications have it; text comes as fixed-width text or as objects. Kept, because numpy makes it anew."""
    return "string" if dtype.kind in "UO" else dtype.name


def _fixed(spec: TensorSpec) -> tuple[tuple[int, int], ...]:
    return tuple((axis, size) for axis, size in enumerate(spec.shape) if isinstance(size, int))
