"""Decide which columns fill which input of the model, before a single value is read.

An input is filled by the array or column of its own name; an input of several columns by the names the model knows,
else by the features in an order that a person confirms. Nothing is scaled, encoded or cut into words here.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.data.choices import DataChoices
from engine.data.limits import names_text
from engine.data.profile import ColumnProfile, TableProfile
from engine.data.roles import unnamed_inputs
from engine.errors import Mismatch
from engine.records import Role, Signature, TensorSpec

DTYPES = frozenset(
    {
        "string",
        "bool",
        "float16",
        "float32",
        "float64",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
    }
)
PREPARATION = (
    "Scaling, one-hot encoding and tokenising belong inside the model or before the upload; they are never guessed"
)


@dataclass(frozen=True)
class InputPlan:
    """How one input is filled. whole: by one column that holds the input's row; else columns side by side."""

    spec: TensorSpec
    columns: tuple[str, ...]
    whole: bool


@dataclass(frozen=True)
class Plan:
    """All inputs, in signature order, and what a person should know."""

    inputs: tuple[InputPlan, ...]
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Every column that some input needs."""
        return list(dict.fromkeys(name for one in self.inputs for name in one.columns))


def plan_inputs(profile: TableProfile, signature: Signature, roles: dict[str, Role], choices: DataChoices) -> Plan:
    """Match columns to inputs. Raises Mismatch with the names and numbers on both sides."""
    plans: dict[str, InputPlan] = {}
    pool: list[TensorSpec] = []
    unnamed = {spec.name for spec in unnamed_inputs(profile, signature)}
    _check_all_named(signature, profile, unnamed)
    for spec in signature.inputs:
        if not spec.shape:
            raise Mismatch(f"input {spec.name} takes a single value and no rows; export the model with a batch axis")
        if spec.dtype not in DTYPES:
            raise Mismatch(
                f"input {spec.name} takes {spec.dtype}, which a table cannot hold; export it with float32 inputs"
            )
        if spec.name in unnamed:
            pool.append(spec)
        else:
            plans[spec.name] = _by_name(spec, profile, roles, choices)
    notes: list[str] = []
    if pool:
        used = {name for plan in plans.values() for name in plan.columns}
        plans |= _from_pool(pool, profile, roles, choices, used, notes)
    elif choices.feature_order is not None:
        _check_order_is_known(choices.feature_order, plans)
    return Plan(tuple(plans[spec.name] for spec in signature.inputs), tuple(notes))


def _by_name(spec: TensorSpec, profile: TableProfile, roles: dict[str, Role], choices: DataChoices) -> InputPlan:
    own = profile.column(spec.name)
    if own is not None and spec.name not in (spec.columns or ()):
        _check_free(spec, [own.name], roles)
        return _whole(spec, own)
    if spec.columns is not None:
        missing = [name for name in spec.columns if profile.column(name) is None]
        if missing:
            raise Mismatch(_names_differ(spec, missing, profile, roles))
        _check_free(spec, list(spec.columns), roles)
        return InputPlan(spec, spec.columns, whole=False)
    order = choices.feature_order or ()
    chosen = profile.column(order[0]) if len(order) == 1 else None
    if chosen is not None:
        return _whole(spec, chosen)
    raise Mismatch(_no_column(spec, profile))


def _check_all_named(signature: Signature, profile: TableProfile, unnamed: set[str]) -> None:
    """Name every input that has no column at once, not one after the other."""
    single = [spec.name for spec in signature.inputs if spec.columns is None and spec.name not in unnamed]
    missing = [name for name in single if profile.column(name) is None]
    if len(missing) > 1:
        extra = [name for name in profile.names if name not in single]
        raise Mismatch(
            f"{len(missing)} of {len(signature.inputs)} inputs have no column of their name: {names_text(missing)}. "
            f"Columns the model does not know: {names_text(extra) or 'none'}"
        )


def _check_free(spec: TensorSpec, names: list[str], roles: dict[str, Role]) -> None:
    taken = [f"{name} ({roles[name]})" for name in names if roles[name] in ("label", "ignored", "split")]
    if taken:
        raise Mismatch(
            f"input {spec.name} of the model needs columns that have another role: {names_text(taken)}; "
            "give them the role feature, or bring a model that does not use them"
        )


def _whole(spec: TensorSpec, column: ColumnProfile) -> InputPlan:
    """The one column whose rows are the input's rows. Raises Mismatch when the shapes differ."""
    wanted = spec.shape[1:]
    same = len(wanted) == len(column.shape) and all(
        isinstance(size, str) or size == got for size, got in zip(wanted, column.shape, strict=True)
    )
    if not same and (wanted, column.shape) not in (((1,), ()), ((), (1,))):
        rows = "×".join(map(str, column.shape)) or "one value"
        shape = "×".join(map(str, wanted)) or "one value"
        raise Mismatch(f"input {spec.name} takes {shape} per row, column {column.name} holds {rows} per row")
    return InputPlan(spec, (column.name,), whole=True)


def _from_pool(
    pool: list[TensorSpec],
    profile: TableProfile,
    roles: dict[str, Role],
    choices: DataChoices,
    used: set[str],
    notes: list[str],
) -> dict[str, InputPlan]:
    """Inputs whose columns the model cannot name: in the confirmed order, else by prefix, else all that is left."""
    if choices.feature_order is not None:
        plans = _in_order(pool, profile, choices.feature_order, roles)
        notes += [
            f"Input {name}: columns in the order confirmed: {names_text(p.columns, 30)}" for name, p in plans.items()
        ]
        return plans
    free = [c.name for c in profile.columns if roles[c.name] == "feature" and c.name not in used and c.kind != "array"]
    picked = _pick(pool, free)
    plans = {}
    for spec in pool:
        names = tuple(picked[spec.name])
        _check_width(spec, names, profile, roles)
        if spec.columns is not None:
            raise Mismatch(
                f"the model knows its columns only by position ({spec.columns[0]}, …); the file has "
                f"{names_text(names)}. If they belong together in this order, confirm it: --features {','.join(names)}"
            )
        notes.append(f"Input {spec.name}: columns in the order of the file: {names_text(names, 30)}")
        plans[spec.name] = InputPlan(spec, names, whole=False)
    return plans


def _pick(pool: list[TensorSpec], free: list[str]) -> dict[str, list[str]]:
    """Columns for each input: those that begin with its name, where their number fits; one input may take the rest."""
    picked: dict[str, list[str]] = {}
    for spec in pool:
        own = [name for name in free if name.startswith(spec.name)]
        if own and (spec.shape[1] == len(own) or (isinstance(spec.shape[1], str) and len(pool) > 1)):
            picked[spec.name] = own
            free = [name for name in free if name not in own]
    waiting = [spec for spec in pool if spec.name not in picked]
    if len(waiting) == 1:
        picked[waiting[0].name] = free
    elif waiting:
        listing = ", ".join(f"{spec.name} takes {spec.shape[1]}" for spec in waiting)
        raise Mismatch(
            f"the model does not name its columns ({listing}; left in the file: {names_text(free) or 'none'}); "
            "give all feature columns in the order of the inputs (--features a,b,…)"
        )
    return picked


def _in_order(
    pool: list[TensorSpec], profile: TableProfile, order: tuple[str, ...], roles: dict[str, Role]
) -> dict[str, InputPlan]:
    left, plans = list(order), {}
    for spec in pool:
        first = profile.column(left[0]) if left else None
        if first is not None and first.kind == "array":
            plans[spec.name] = _whole(spec, first)
            left = left[1:]
            continue
        width = spec.shape[1] if isinstance(spec.shape[1], int) else len(left)
        names, left = tuple(left[:width]), left[width:]
        _check_width(spec, names, profile, roles)
        plans[spec.name] = InputPlan(spec, names, whole=False)
    if left:
        raise Mismatch(f"the confirmed order names {len(order)} columns; left over: {names_text(left)}")
    return plans


def _check_width(spec: TensorSpec, names: tuple[str, ...], profile: TableProfile, roles: dict[str, Role]) -> None:
    width = spec.shape[1]
    if isinstance(width, str) and names:
        return
    if width != len(names):
        others = [name for name in profile.names if name not in names and roles[name] != "feature"]
        raise Mismatch(
            f"input {spec.name} takes {width} columns, the file has {len(names)} features "
            f"({names_text(names) or 'none'}); others: {names_text(others) or 'none'}. Change the roles, or name "
            "the feature columns in order (--features a,b,…)"
        )


def _names_differ(spec: TensorSpec, missing: list[str], profile: TableProfile, roles: dict[str, Role]) -> str:
    assert spec.columns is not None
    extra = [
        name for name in profile.names if name not in spec.columns and roles[name] in ("feature", "slice", "ignored")
    ]
    return (
        f"input {spec.name} needs {len(spec.columns)} columns, {len(missing)} of them are not in the file: "
        f"{names_text(missing)}. Columns the model does not know: {names_text(extra) or 'none'}"
    )


def _no_column(spec: TensorSpec, profile: TableProfile) -> str:
    shape = "×".join(map(str, spec.shape[1:])) or "one value"
    how = f"call the column {spec.name!r}"
    if len(spec.shape) > 1:
        how = f"call the array {spec.name!r} (NPZ, or a list column of a Parquet file), or confirm one: --features NAME"
    return (
        f"input {spec.name} ({spec.dtype}, {shape} per row) has no column of its name; "
        f"the file has {names_text(profile.names)}. To bring it, {how}"
    )


def _check_order_is_known(order: tuple[str, ...], plans: dict[str, InputPlan]) -> None:
    strange = [name for name in order if all(name not in plan.columns for plan in plans.values())]
    if strange:
        known = [name for plan in plans.values() for name in plan.columns]
        raise Mismatch(
            f"the model knows its columns by name ({names_text(known)}) and all are in the file; "
            f"leave the order out, or leave out {names_text(strange)}"
        )


def confirmed_inputs(signature: Signature, plan: Plan) -> Signature:
    """The signature with the columns behind each input written down."""
    return signature.model_copy(update={"inputs": tuple(map(_confirmed, plan.inputs))})


def _confirmed(one: InputPlan) -> TensorSpec:
    if one.whole or len(one.spec.shape) != 2:
        return one.spec
    lists = one.spec.categories
    if lists is not None and one.spec.columns is not None:
        renamed = dict(zip(one.spec.columns, one.columns, strict=True))
        lists = {renamed[name]: values for name, values in lists.items()}
    return one.spec.model_copy(update={"columns": one.columns, "categories": lists})
