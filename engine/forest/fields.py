"""Parameters that several tree levers have, with their bounds and words."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Strength = Annotated[
    float,
    Field(gt=0.0, le=1e6, description="How strongly a leaf is held at its old value; raise it where rows are few."),
]
MaxRows = Annotated[int, Field(ge=100, le=1_000_000, description="Training rows used, drawn at random with the seed.")]
MixedRows = Annotated[
    float,
    Field(
        ge=0.0,
        le=10.0,
        description="Made-up rows per real one, a tenth of their values from another row: the leaves then hold for "
        "rows unlike the training too. 0: real rows only.",
    ),
]
KeepRounds = Annotated[
    int,
    Field(
        ge=0,
        le=1_000_000,
        description="Boosting rounds to keep; 0: as keep_fraction says. One round: a tree per class.",
    ),
]
