"""The model's inputs and the file's columns side by side, before any value is read; what does not meet is named."""

from __future__ import annotations

from collections.abc import Iterator

from engine.data.choices import DataChoices
from engine.data.mapping import InputPlan, plan_inputs
from engine.data.profile import ColumnProfile, TableProfile
from engine.data.roles import unnamed_inputs
from engine.errors import Mismatch
from engine.records import Record, Role, Signature, TensorSpec


class Pair(Record):
    """What one input, or one column of it, is filled by. column None: nothing."""

    input: str
    wants: str
    takes: str
    column: str | None = None
    holds: str = ""
    cast: str | None = None


class Pairing(Record):
    """All of them, the feature columns that no input takes, and what is wrong (a sentence) where it does not fit."""

    pairs: tuple[Pair, ...]
    unused: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def unmatched(self) -> tuple[str, ...]:
        """What the model wants and the file does not have."""
        return tuple(pair.wants for pair in self.pairs if pair.column is None)


def pairing(profile: TableProfile, signature: Signature, roles: dict[str, Role], choices: DataChoices) -> Pairing:
    """Match as `plan_inputs` does; where that refuses, match by name as far as names go."""
    problem = None
    try:
        plans = plan_inputs(profile, signature, roles, choices).inputs
        pairs = tuple(pair for plan in plans for pair in _planned(plan, profile))
    except Mismatch as error:
        problem = str(error)
        unnamed = {spec.name for spec in unnamed_inputs(profile, signature)}
        pairs = tuple(pair for spec in signature.inputs for pair in _by_name(spec, profile, spec.name in unnamed))
    used = {pair.column for pair in pairs}
    unused = tuple(name for name, role in roles.items() if role == "feature" and name not in used)
    return Pairing(pairs=pairs, unused=unused, problem=problem)


def _planned(plan: InputPlan, profile: TableProfile) -> Iterator[Pair]:
    spec = plan.spec
    wanted = (
        (spec.name,) if plan.whole else spec.columns or tuple(f"column {at + 1}" for at in range(len(plan.columns)))
    )
    for name, column in zip(wanted, plan.columns, strict=True):
        yield _pair(spec, name, profile.column(column), whole=plan.whole)


def _by_name(spec: TensorSpec, profile: TableProfile, unnamed: bool) -> Iterator[Pair]:
    own = profile.column(spec.name)
    if own is not None or (spec.columns is None and not unnamed):
        yield _pair(spec, spec.name, own, whole=True)
    elif unnamed:
        yield _pair(spec, f"{spec.shape[1]} columns, in its order", None, whole=False)
    else:
        for name in spec.columns or ():
            yield _pair(spec, name, profile.column(name), whole=False)


def _pair(spec: TensorSpec, wants: str, column: ColumnProfile | None, *, whole: bool) -> Pair:
    coded = wants in (spec.categories or {})
    shape = "×".join(map(str, spec.shape[1:])) if whole else ""
    takes = f"category of {len(spec.categories[wants]):,}" if coded and spec.categories else f"{spec.dtype} {shape}"
    if column is None:
        return Pair(input=spec.name, wants=wants, takes=takes.strip())
    holds = f"{column.kind} {'×'.join(map(str, column.shape))}".strip()
    cast = None
    if coded:
        cast = f"{column.dtype} → code"
    elif column.dtype != spec.dtype:
        cast = f"{column.dtype} → {spec.dtype}"
    return Pair(input=spec.name, wants=wants, takes=takes.strip(), column=column.name, holds=holds, cast=cast)
