"""Leaf values on a grid of 16 bits whose step is a power of two.

Then every leaf is a whole number of steps, sums are exact whatever their order, and a packer finds the grid in the
values themselves: nothing has to be written beside them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.forest.forest import Forest

LARGEST = 32_767
_MOST_STEPS = 1 << 53  # whole numbers that a double holds exactly


@dataclass(frozen=True)
class Grid:
    """leaf == (middle + step) * scale, exactly. middles: (n_trees,) int64; steps: per tree (n_leaves,) int16."""

    scale: float
    middles: np.ndarray
    steps: tuple[np.ndarray, ...]


def to_grid(forest: Forest) -> tuple[Forest, float]:
    """The forest with its leaves rounded, and the step. The step is as fine as the tree of the widest leaves allows."""
    reach = max((float(np.ptp(tree.leaf_value)) / 2 for tree in forest.trees), default=0.0)
    largest = max((float(np.abs(tree.leaf_value).max()) for tree in forest.trees), default=0.0)
    finest = largest / (_MOST_STEPS >> 1)  # a step below the last bit of a leaf would round nothing
    scale = float(2.0 ** np.ceil(np.log2(max(reach / LARGEST, finest, 2.0**-1000))))
    trees = tuple(replace(tree, leaf_value=_rounded(tree.leaf_value, scale)) for tree in forest.trees)
    return replace(forest, trees=trees), scale


def _rounded(values: np.ndarray, scale: float) -> np.ndarray:
    middle = np.rint((values.max() + values.min()) / 2 / scale)
    steps = np.clip(np.rint(values / scale) - middle, -LARGEST, LARGEST)
    rounded: np.ndarray = (middle + steps) * scale
    return rounded


def grid_of(forest: Forest) -> Grid | None:
    """The grid that all leaves lie on, or None when there is none that 16 bits hold."""
    values = np.concatenate([tree.leaf_value for tree in forest.trees])
    scale = _common_step(values)
    if scale is None:
        return None
    middles, steps = [], []
    for tree in forest.trees:
        whole = tree.leaf_value / scale
        middle = np.rint((whole.max() + whole.min()) / 2)
        own = whole - middle
        if np.abs(own).max() > LARGEST:
            return None
        middles.append(int(middle))
        steps.append(own.astype(np.int16))
    return Grid(scale, np.array(middles, np.int64), tuple(steps))


def _common_step(values: np.ndarray) -> float | None:
    """The largest power of two that divides every value; None for none that keeps them whole in a double."""
    used = values[values != 0]
    if not np.isfinite(used).all():
        return None
    if not len(used):
        return 1.0
    mantissa, exponent = np.frexp(used)
    bits = (np.abs(mantissa) * _MOST_STEPS).astype(np.int64)  # 53 bits, the last one set tells how fine it is
    zeros = np.log2((bits & -bits).astype(np.float64)).astype(np.int64)
    finest = int((exponent - 53 + zeros).min())
    if np.abs(used).max() >= np.ldexp(float(_MOST_STEPS), finest):
        return None
    return float(np.ldexp(1.0, finest))
