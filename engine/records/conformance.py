"""What a converted or compiled forest answers at the rows where two readings of a tree may part."""

from __future__ import annotations

from pydantic import Field

from engine.records.base import Record


class Conformance(Record):
    """One step or runtime against the model before it, on rows made for that purpose."""

    what: str = Field(description="The lever or runtime, by name.")
    exact: bool = Field(description="True: every row must agree, else the artefact is refused. False: it is told.")
    n_rows: int = Field(ge=0, description="Evaluation rows, as they are and with one value replaced.")
    n_made: int | None = Field(None, ge=0, description="Of them those with one value replaced; None: not noted.")
    n_differ: int = Field(ge=0, description="Rows apart by more than rounding: they took another way through a tree.")
    largest: float = Field(ge=0, description="The largest difference of any answer, rounding included.")
    column: str | None = Field(None, description="The feature whose change makes most rows differ.")
    kind: str | None = Field(None, description="What most of those rows hold there.")
