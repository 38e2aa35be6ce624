"""Weights of dense layers in blocks of 8 bits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from engine.graph.onnx_quantise import why_nothing_inside
from engine.graph.onnx_weights import store_in_blocks
from engine.graph.weight_blocks import Block, Expected, against_it
from engine.plugin import Artefact, Context, Lever, Prediction
from engine.records import Manifest


class WeightsInt8(Lever):
    """Stores the matrices of MatMul and Gemm in 8 bits, with one scale per block of values; activations stay.

    Needs no data and loses next to nothing: where INT8 dynamic costs accuracy because of a few large activations, this
    does not. About a quarter of the size of what it packs. Helps where the size counts and quality must not move.
    Hurts the time of small nets, and seldom gains any beyond single rows. Source: Dettmers et al. (2022), 8-bit
    Optimizers via Block-wise Quantization, section 2; ONNX Runtime, MatMulNBits.
    """

    title = "Weights in 8 bits"
    accepts = frozenset({"onnx"})
    libraries = ("onnx", "onnxruntime")

    block: Block = 32
    arithmetic: Literal["int8", "float32"] = Field(
        "float32",
        description="How packed weights are multiplied: 'float32' unpacks first and keeps activations as they are, "
        "'int8' rounds them too and is faster where the processor has 8-bit dot products.",
    )

    @classmethod
    def fits(cls, manifest: Manifest, machine: Mapping[str, Any]) -> str | None:
        """As every plug-in; and a file without stored weights has nothing to pack."""
        return super().fits(manifest, machine) or why_nothing_inside(manifest)

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """Size is sure, time is not."""
        smaller: Expected = ("No difference", "the file shrinks to about a quarter; the arithmetic stays what it was")
        return Prediction(*(against_it(manifest) or smaller))

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write model.onnx with packed weights. Raises DoesNotFit when no operator was changed."""
        return store_in_blocks(
            source.folder,
            out,
            source.manifest.signature,
            bits=8,
            block=self.block,
            in_integers=self.arithmetic == "int8",
            embeddings=False,
            progress=context.progress,
        )
