"""Guess what each column is for. What a person says wins; a column the model wants stays a feature."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.data.choices import DataChoices
from engine.data.limits import names_text
from engine.data.profile import ColumnProfile, TableProfile
from engine.data.split_names import SPLIT_NAMES
from engine.data.table import missing_column
from engine.errors import BadData
from engine.records import Role, Signature, Task, TensorSpec

MOST_SLICE_VALUES = 50  # of a guessed slice column; a declared one may have more
LABELS = ("label", "labels", "target", "targets", "y", "y_true", "class", "truth", "ground_truth", "outcome")
GROUPS = ("group", "group_id", "user", "user_id", "query", "query_id", "qid", "session", "session_id", "customer_id")
IDS = ("id", "row_id", "rowid", "uuid", "index", "example_id", "sample_id")
WEIGHTS = ("weight", "weights", "sample_weight")
SPLITS = ("split", "subset", "partition", "fold", "set")
_SINGLE: tuple[tuple[Role, str], ...] = (
    ("label", "label"), ("group", "group"), ("id", "id"), ("weight", "weight"), ("split", "split_column"),
)  # fmt: skip
GENERIC = re.compile(r"Column_\d+")  # how LightGBM names columns that had no name


@dataclass(frozen=True)
class Named:
    """The columns that have a job beside the inputs. A slice, group or id may be a feature as well.

    labels: one column; several where each says yes or no to one class, as ordered by a person or in the file.
    """

    labels: tuple[str, ...]
    slices: tuple[str, ...]
    group: str | None
    id: str | None
    weight: str | None
    split: str | None

    @property
    def label(self) -> str | None:
        """The first label column."""
        return self.labels[0] if self.labels else None


def guess_roles(
    profile: TableProfile, signature: Signature, label: str | None = None, choices: DataChoices | None = None
) -> dict[str, Role]:
    """Role of every column, in the order of the file. Raises BadData for a chosen column that does not exist."""
    choices = choices or DataChoices()
    if label is not None:
        choices = choices.model_copy(update={"label": label})
    wanted = wanted_names(signature)
    said = _said(profile, choices, wanted)
    roles: dict[str, Role] = dict(said)
    for column in profile.columns:
        if column.name not in roles and column.name in wanted:
            roles[column.name] = "feature"
    if choices.task in (None, "multilabel"):
        _name_the_labels(profile, roles, signature, choices)
    _name_the_rest(profile, roles, choices)
    open_names = [column for column in profile.columns if column.name not in roles]
    unnamed = unnamed_inputs(profile, signature)
    labelled = "label" in roles.values() or choices.task in ("other", "embedding")
    if not labelled and (guessed := _label_left_over(open_names, unnamed)):
        roles[guessed] = "label"
    for column in open_names:
        roles.setdefault(column.name, _leftover_role(column, bool(unnamed), choices))
    return {column.name: roles[column.name] for column in profile.columns}


def named_columns(roles: dict[str, Role], choices: DataChoices, task: Task | None = None) -> Named:
    """Labels, slices, group, id, weight and split. Raises BadData when two columns claim one job.

    task: what the model says it does; a person's word comes first.
    """
    found: dict[str, str | None] = {}
    for role, field in _SINGLE:
        if role == "label":
            continue
        claimed = [name for name, given in roles.items() if given == role]
        chosen = getattr(choices, field)
        if chosen is None and len(claimed) > 1:
            raise BadData(f"{len(claimed)} columns have the role {role} ({names_text(claimed)}); keep one of them")
        found[role] = chosen or (claimed[0] if claimed else None)
    slices = choices.slices
    if slices is None:
        slices = tuple(name for name, role in roles.items() if role == "slice")
    return Named(
        labels=_label_columns(roles, choices, choices.task or task),
        slices=tuple(dict.fromkeys(slices)),
        group=found["group"],
        id=found["id"],
        weight=found["weight"],
        split=found["split"],
    )


def _label_columns(roles: dict[str, Role], choices: DataChoices, task: Task | None) -> tuple[str, ...]:
    """In the order a person gave, else in that of the file."""
    if choices.labels:
        return tuple(dict.fromkeys(choices.labels))
    if choices.label is not None:
        return (choices.label,)
    claimed = tuple(name for name, role in roles.items() if role == "label")
    if len(claimed) > 1 and task != "multilabel":
        raise BadData(
            f"{len(claimed)} columns have the role label ({names_text(claimed)}); keep one of them, or choose the task "
            "multilabel (--task multilabel) where each says yes or no to one class"
        )
    return claimed


def wanted_names(signature: Signature) -> set[str]:
    """Names that the model itself uses: of its inputs, and of the columns behind them."""
    return {name for spec in signature.inputs for name in (spec.name, *(spec.columns or ()))}


def unnamed_inputs(profile: TableProfile, signature: Signature) -> list[TensorSpec]:
    """Inputs of several columns that the file's names do not fill: the model has no names, or Column_0 and so on."""
    return [
        spec
        for spec in signature.inputs
        if len(spec.shape) == 2
        and (spec.shape[1] != 1 or len(signature.inputs) == 1)
        and profile.column(spec.name) is None
        and (
            spec.columns is None
            or (all(map(GENERIC.fullmatch, spec.columns)) and not set(spec.columns) <= set(profile.names))
        )
    ]


def _said(profile: TableProfile, choices: DataChoices, wanted: set[str]) -> dict[str, Role]:
    """What a person said. Naming a label, a slice, a group … of a column that the model wants keeps it a feature."""
    said: dict[str, Role] = dict(choices.roles)
    for name in choices.feature_order or ():
        said[name] = "feature"
    for name in choices.labels or ():
        said[name] = "label"
    for name in choices.slices or ():
        said.setdefault(name, "feature" if name in wanted else "slice")
    for role, field in _SINGLE:
        name = getattr(choices, field)
        if name is not None and role in ("label", "split"):
            said[name] = role
        elif name is not None:
            said.setdefault(name, "feature" if name in wanted else role)
    known = set(profile.names)
    for name in said:
        if name not in known:
            is_label = name in (choices.label, *(choices.labels or ()))
            raise missing_column(name, profile, "label column" if is_label else "column")
    return said


def _name_the_labels(profile: TableProfile, roles: dict[str, Role], signature: Signature, choices: DataChoices) -> None:
    """Labels of several at once: the columns called like the classes of the model, else one array called a label."""
    if "label" in roles.values() or choices.label is not None:
        return
    task, classes = choices.task or signature.task, choices.classes or signature.classes or ()
    if task == "multilabel" and classes and set(classes) <= set(profile.names) - set(roles):
        roles.update(dict.fromkeys(classes, "label"))
    elif task in (None, "multilabel"):
        arrays = {c.name.strip().lower(): c for c in profile.columns if c.kind == "array" and c.name not in roles}
        plain = {column.name.strip().lower() for column in profile.columns if column.kind != "array"}
        found = next((arrays[name] for name in LABELS if name in arrays), None)
        if found is not None and len(found.shape) == 1 and found.dtype != "string" and not plain & set(LABELS):
            roles[found.name] = "label"


def _name_the_rest(profile: TableProfile, roles: dict[str, Role], choices: DataChoices) -> None:
    """Roles told by a column's name. At most one column each; arrays and taken columns are passed over."""
    table: tuple[tuple[Role, tuple[str, ...]], ...] = (
        ("split", SPLITS), ("label", LABELS), ("group", GROUPS), ("id", IDS), ("weight", WEIGHTS),
    )  # fmt: skip
    by_name = {column.name.strip().lower(): column for column in reversed(profile.columns) if column.kind != "array"}
    for role, names in table:
        if role in roles.values() or getattr(choices, dict(_SINGLE)[role]) is not None:
            continue
        for name in names:
            column = by_name.get(name)
            if column is None or column.name in roles or not _plausible(column, role):
                continue
            roles[column.name] = role
            break


def _plausible(column: ColumnProfile, role: Role) -> bool:
    if role == "split":
        few = column.n_unique is not None and 0 < column.n_unique <= len(column.examples)
        return few and all(text.strip().lower() in SPLIT_NAMES for text in column.examples)
    if role == "weight":
        return column.kind in ("number", "whole number")
    return True


def _label_left_over(left: list[ColumnProfile], unnamed: list[TensorSpec]) -> str | None:
    """A column nobody named that can only be the label: one more than the inputs take; the only text, or the last."""
    left = [column for column in left if column.kind != "array" and not column.row_number]
    widths = [spec.shape[1] for spec in unnamed]
    if not all(isinstance(width, int) for width in widths) or len(left) != sum(map(int, widths)) + 1:
        return None
    text = [column for column in left if column.kind in ("text", "true/false")]
    return text[0].name if len(text) == 1 else left[-1].name


def _leftover_role(column: ColumnProfile, wants_features: bool, choices: DataChoices) -> Role:
    """Of a column that neither the model nor its own name explains."""
    if column.row_number or column.kind in ("array", "time"):
        return "ignored"
    if wants_features and choices.feature_order is None and column.kind in ("number", "whole number"):
        return "feature"
    few = column.n_unique is not None and 2 <= column.n_unique <= MOST_SLICE_VALUES
    return "slice" if few and choices.slices is None else "ignored"
