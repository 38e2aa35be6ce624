"""What a person decides about a data file. Everything left out is found out."""

from __future__ import annotations

from pydantic import Field

from engine.records import OutputKind, Record, Role, Task


class DataChoices(Record):
    """Choices that override what would be guessed; None (or an empty mapping) means: guess."""

    roles: dict[str, Role] = Field({}, description="Role per column; columns left out are guessed.")
    label: str | None = Field(None, description="Column that holds the truth.")
    labels: tuple[str, ...] | None = Field(
        None, description="Multilabel: columns of 0 and 1, one per class, in the order of the model's scores."
    )
    label_separator: str | None = Field(
        None, min_length=1, max_length=8, description="Multilabel: what stands between the names in a text such as a|b."
    )
    slices: tuple[str, ...] | None = Field(None, description="Columns whose values are judged one by one.")
    group: str | None = Field(None, description="Column whose rows stay together.")
    id: str | None = Field(None, description="Column that names each row.")
    weight: str | None = Field(None, description="Column with a weight per row.")
    split_column: str | None = Field(None, description="Column that says which split a row belongs to.")
    feature_order: tuple[str, ...] | None = Field(
        None, description="Columns behind the inputs that take several columns, in the order the model wants them."
    )
    classes: tuple[str, ...] | None = Field(None, description="Label text of each score column, in order.")
    task: Task | None = None
    output: str | None = Field(None, description="Name of the output that is judged.")
    output_kind: OutputKind | None = None
    encoding: str | None = Field(None, description="Of a CSV file; None: detected.")
    separator: str | None = Field(None, description="Of a CSV file; None: detected.")
