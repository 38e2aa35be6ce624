"""Compile on first use. numba is imported when the first kernel is asked for, never with this module."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from . import kernels, vectors

_HELPERS = ("code_row", "transpose", "member_masks", "add_leaves", "finish", "row_bins")
_LOCK = threading.Lock()
_COMPILED: dict[Any, Any] = {}


def compiled(name: str, *form: Any) -> Callable[..., None]:
    """The kernel "block", "quickscorer" or "level_walk"; numba compiles it at its first call and keeps it on disk.

    form: what `kernels.block_kernel` is made for.
    """
    with _LOCK:
        if "jit" not in _COMPILED:
            _COMPILED["jit"] = _prepare()
        if (name, *form) not in _COMPILED:
            plain = kernels.block_kernel(*form) if name == "block" else getattr(kernels, name)
            _COMPILED[name, *form] = _COMPILED["jit"](plain)
        kernel: Callable[..., None] = _COMPILED[name, *form]
        return kernel


def _prepare() -> Any:
    """Put compiled helpers in the place of the plain ones; returns what compiles a kernel.

    A kernel finds its helpers by their global names: one that closes over a compiled helper would be compiled anew by
    every process (numba keys its cache with what a closure holds).
    """
    from numba import njit

    options = {"nogil": True, "boundscheck": False, "error_model": "numpy"}
    helper = njit(**options, no_cpython_wrapper=True, no_cfunc_wrapper=True)  # part of the kernel that is kept
    for name, make in vectors.INTRINSICS.items():
        setattr(kernels, name, make())
    for name in _HELPERS:
        setattr(kernels, name, helper(getattr(kernels, name)))
    return njit(**options, no_cfunc_wrapper=True, cache=True)
