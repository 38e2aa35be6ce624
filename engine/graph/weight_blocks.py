"""What the levers that pack weights in blocks have in common: their size of block, and what to expect of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from engine.graph.kind import is_small, kind_of
from engine.records import Manifest

Block = Annotated[
    Literal[16, 32, 64, 128, 256],
    Field(description="Values that share a scale. Smaller blocks keep more accuracy and take a little more room."),
]
Expected = tuple[Literal["No difference", "Likely slower"], str]  # the word and the reason of a prediction


def against_it(manifest: Manifest) -> Expected | None:
    """Word and reason where packing cannot pay; None where size is saved."""
    if kind_of(manifest) == "convolutions":
        return "No difference", "convolutions keep their weights: only dense layers are packed"
    if is_small(manifest):
        return "Likely slower", f"{manifest.n_parameters:,} parameters: unpacking costs more than it saves"
    return None
