"""Serve a binned forest: `load("forest.npz").predict(rows)`. Needs numpy and numba, nothing of Whetstone.

Copy this folder beside your service, under any name. The answers are those of the model it was made from, bit for bit
in double precision. The first call for few rows and the first for many compile a kernel each (about a second, once per
machine: numba keeps them in `__pycache__` or in NUMBA_CACHE_DIR).

forest.npz is a zip of plain numpy arrays, opened without pickle; every position in it is checked before it is used:

  about                    JSON: version, n_features, feature_names, n_classes, link, slope, rounds, zero_width, leaves
  features, thresholds     columns of the input that are asked for; for each its thresholds, ascending, padded with inf
  starts, nans, zeros      columns of each feature; the bin that a NaN and a zero get in each
  codes, members           category features: (feature, categories, words, first word, first set); their member bits
  nodes, tree_node         block kernel, trees class by class: (column or 65535, limit or set, left slot, right slot,
                           slot written)
  tree_leaf, leaf          first leaf of each tree; their values. Or leaf_step (a whole number per leaf) and leaf_middle
                           (one per tree): the value is (middle + step) * about["leaf_scale"], exactly
  row_*                    the kernel for few rows: see `kernels.quickscorer` and `kernels.level_walk`
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from . import kernels, tables
from .jit import compiled

VERSION = 1
Call = tuple[Callable[..., None], tuple[Any, ...]]
_DTYPES = frozenset({np.dtype(np.float64), np.dtype(np.float32)})
# Fewer rows than this go to the row kernel: where the blocks begin to be quicker, by kernel and whether there are sets.
# `python -m benchmarks trees` times both kernels from 1 to 64 rows. Eight models of 200 to 1,500 trees crossed at 11 to
# 17, 25 to 30, 10 to 18 and 13 to 15 rows (Intel Xeon 2.8 GHz with AVX-512, busy and quiet, 2026-12-01).
SWITCH = {
    ("quickscorer", False): 16,
    ("quickscorer", True): 28,
    ("level_walk", False): 14,
    ("level_walk", True): 14,
}


def load(path: str | Path, threads: int = 1) -> Model:
    """The model of a forest.npz. threads: for batches of 1,024 rows and more. Raises ValueError for a damaged file."""
    with np.load(path, allow_pickle=False) as file:
        return Model({name: file[name] for name in file.files}, threads)


class _Rooms(threading.local):
    """Of each thread: its kernels, with the tables they read and the room they write to."""

    def __init__(self) -> None:
        self.calls: dict[tuple[int, bool], Call] = {}


class Model:
    """A forest ready to answer. Safe to call from several threads."""

    def __init__(self, arrays: dict[str, np.ndarray], threads: int = 1) -> None:
        self.about: dict[str, Any] = json.loads(str(arrays["about"]))
        if self.about["version"] != VERSION:
            raise ValueError(f"the file has version {self.about['version']}, this loader reads version {VERSION}")
        if "leaf" not in arrays:
            arrays |= {"leaf": tables.leaf_values(arrays, self.about["leaf_scale"])}
        tables.check(arrays, self.about)
        self.n_features, self.n_classes = self.about["n_features"], self.about["n_classes"]
        self.few = self.about["row_kernel"]
        sets = bool(len(arrays["codes"]))
        self.switch = SWITCH[self.few, sets] if len(arrays["nodes"]) else None  # None: no block kernel, too many leaves
        self.arrays = arrays
        self._row = {raw: tables.row_tables(arrays, self.about, raw) for raw in (False, True)}
        self._block = {raw: tables.block_tables(arrays, self.about, raw) for raw in (False, True)}
        self._form = (arrays["thresholds"].shape[1].bit_length() - 1, sets)
        self._rooms = _Rooms()
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._threads = threads

    def predict(self, rows: np.ndarray, raw: bool = False) -> np.ndarray:
        """rows: (n, n_features) float64 or float32. (n,) or (n, n_classes) float64; raw: before average and link."""
        if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.shape[1] != self.n_features:
            shape = getattr(rows, "shape", type(rows).__name__)
            raise ValueError(f"expected an array of shape (n, {self.n_features}), got {shape}")
        if rows.dtype not in _DTYPES:
            raise ValueError(f"expected float64 or float32, got {rows.dtype}")
        if not rows.flags.c_contiguous:
            rows = np.ascontiguousarray(rows)
        n = len(rows)
        out = np.empty((n, self.n_classes))
        width = self.width(n)
        if self._pool is None or n < 2 * kernels.BLOCK:
            self._part(rows, 0, n, width, raw, out)
        else:
            n_blocks = -(-n // kernels.BLOCK)
            edges = [min(n, n_blocks * i // self._threads * kernels.BLOCK) for i in range(self._threads + 1)]
            list(self._pool.map(lambda part: self._part(rows, part[0], part[1], width, raw, out), pairwise(edges)))
        return out.reshape(-1) if self.n_classes == 1 else out

    def width(self, n_rows: int) -> int:
        """Rows of the blocks that answer a call of n_rows; 0: the kernel for few rows does."""
        if self.switch is None or n_rows < self.switch:
            return 0
        return kernels.NARROW if n_rows <= kernels.NARROW else kernels.BLOCK

    def _part(self, rows: np.ndarray, first: int, last: int, width: int, raw: bool, out: np.ndarray) -> None:
        kernel, arguments = self._rooms.calls.get((width, raw)) or self.call(width, raw)
        kernel(rows, first, last, *arguments, out)

    def call(self, width: int, raw: bool) -> Call:
        """This thread's kernel for blocks of `width` rows, 0: for few rows, with all arguments between rows and out."""
        if width:
            room = tables.block_room(self.arrays, self.about, width)
            found = compiled("block", *self._form, width), (*self._block[raw], *room)
        else:
            found = compiled(self.few), (*self._row[raw], *tables.row_room(self.arrays, self.about))
        self._rooms.calls[width, raw] = found
        return found
