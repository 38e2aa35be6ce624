"""Models: what goes in, what comes out, what is known of the files, and chains of levers."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from engine.records.base import Record
from engine.records.words import OutputKind, Task


class TensorSpec(Record):
    """One input or output of a model."""

    name: str
    dtype: str = Field(description="numpy name: float32, int64, ... or 'string'.")
    shape: tuple[int | str, ...] = Field(description="Batch axis first; ints are fixed axes, text is symbolic.")
    columns: tuple[str, ...] | None = Field(None, description="Feature names behind a rank-2 input, in order.")
    categories: dict[str, tuple[str, ...]] | None = Field(
        None, description="Category list per column; code = position in the list."
    )


class Signature(Record):
    """What goes in, what comes out, and which output is judged."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    task: Task | None = None
    classes: tuple[str, ...] | None = Field(None, description="Class names in the order of the score columns.")
    score_output: str | None = None
    output_kind: OutputKind | None = None

    @property
    def fixed_batch(self) -> int | None:
        """The only batch size the model takes, or None when its batch axis is free."""
        sizes = [spec.shape[0] for spec in self.inputs if spec.shape]
        return next((size for size in sizes if isinstance(size, int)), None)


class Step(Record):
    """One lever and its parameters, by name: readable even after the lever is gone."""

    lever: str
    params: dict[str, Any] = Field(default_factory=dict)


class Recipe(Record):
    """A chain of levers, applied in order. Empty: the original."""

    steps: tuple[Step, ...] = ()


class Choice(Record):
    """A plug-in chosen by name, for example a runtime."""

    name: str
    params: dict[str, Any] = Field(default_factory=dict)


class Manifest(Record):
    """What is known about one model on disk. Says nothing about where it lies."""

    id: str = Field(description="SHA-256 of the canonical listing of the payload files.")
    format: str
    signature: Signature
    size_bytes: int
    n_parameters: int | None = Field(None, description="Trained numbers of a net; None where not meaningful.")
    n_trees: int | None = None
    operators: tuple[str, ...] = Field((), description="Distinct operator types of an uploaded graph.")
    versions: dict[str, str] = Field({}, description="opset, producer, library: what the file says of itself.")
    warnings: tuple[str, ...] = ()
    notes: dict[str, Any] = Field({}, description="What the lever that wrote it wants shown.")
    parent_id: str | None = None
    step: Step | None = None
