"""Weights of dense layers in blocks of 4 bits."""

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


class WeightsInt4(Lever):
    """Stores the matrices of MatMul and Gemm in 4 bits, with one scale per block of values; activations stay.

    Needs no data. About an eighth of the size of what it packs. Helps large transformers on single rows, whose time
    goes into reading weights. Hurts the accuracy of small nets, where 16 levels are few, and hardly ever gains time on
    larger batches. Source: Dettmers and Zettlemoyer (2023), The case for 4-bit precision; ONNX Runtime, MatMulNBits.
    """

    title = "Weights in 4 bits"
    accepts = frozenset({"onnx"})
    libraries = ("onnx", "onnxruntime")

    block: Block = 32
    arithmetic: Literal["int8", "float32"] = Field(
        "int8",
        description="How packed weights are multiplied: 'int8' rounds activations too and is faster where the "
        "processor has 8-bit dot products, 'float32' unpacks first.",
    )
    embeddings: bool = Field(
        True, description="Pack lookup tables too: most of the bytes of small text encoders lie in them."
    )

    @classmethod
    def fits(cls, manifest: Manifest, machine: Mapping[str, Any]) -> str | None:
        """As every plug-in; and a file without stored weights has nothing to pack."""
        return super().fits(manifest, machine) or why_nothing_inside(manifest)

    @classmethod
    def predicts(cls, manifest: Manifest, machine: Mapping[str, Any]) -> Prediction | None:
        """Size is sure, time is not."""
        smaller: Expected = ("No difference", "the file shrinks to a fraction; time is saved on single rows at most")
        return Prediction(*(against_it(manifest) or smaller))

    def apply(self, source: Artefact, out: Path, context: Context) -> dict[str, Any]:
        """Write model.onnx with packed weights. Raises DoesNotFit when no operator was changed."""
        return store_in_blocks(
            source.folder,
            out,
            source.manifest.signature,
            bits=4,
            block=self.block,
            in_integers=self.arithmetic == "int8",
            embeddings=self.embeddings,
            progress=context.progress,
        )
