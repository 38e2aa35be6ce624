"""What a model is made of, as far as its manifest tells, and what a processor has for it: the ground of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from engine.records import Manifest

Kind = Literal["trees", "convolutions", "transformer", "dense"]
SMALL_NET = 100_000  # parameters; below it a call on one row is about as dear as the work around it
# 8-bit dot products (x86 VNNI and AMX, ARM dot product and matrix multiply); 16-bit arithmetic (ARM).
EIGHT_BIT = ("amx_int8", "avx512_vnni", "avx_vnni", "i8mm", "asimddp")
HALF = ("asimdhp",)
_TREES = {"TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor"}
_ATTENTION = {"Attention", "MultiHeadAttention", "LayerNormalization", "SkipLayerNormalization"}


def kind_of(manifest: Manifest) -> Kind | None:
    """By the operators of the graph; where they are not known, by what goes in. None: neither tells."""
    operators = set(manifest.operators)
    if manifest.n_trees or operators & _TREES:
        return "trees"
    return _by_operators(operators) if operators else _by_inputs(manifest)


def _by_operators(operators: set[str]) -> Kind | None:
    if operators & _ATTENTION or {"MatMul", "Softmax", "Gather"} <= operators:
        return "transformer"
    if "Conv" in operators:
        return "convolutions"
    return "dense" if operators & {"MatMul", "Gemm"} else None


def _by_inputs(manifest: Manifest) -> Kind | None:
    """Images have rank 4, tokens are whole numbers."""
    if not manifest.n_parameters:
        return None
    inputs = manifest.signature.inputs
    if any(len(spec.shape) == 4 for spec in inputs):
        return "convolutions"
    tokens = any(spec.dtype.startswith("int") and len(spec.shape) == 2 for spec in inputs)
    return "transformer" if tokens else "dense"


def is_small(manifest: Manifest) -> bool:
    """True for a net with so few parameters that what stands around its arithmetic counts."""
    return manifest.n_parameters is not None and manifest.n_parameters < SMALL_NET


def unit(machine: Mapping[str, Any], wanted: tuple[str, ...]) -> str | None:
    """The first of the wanted instruction sets that the processor has, or None."""
    return next((flag for flag in wanted if flag in machine.get("cpu_flags", ())), None)
