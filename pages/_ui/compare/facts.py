"""Columns without figures: the parameters of levers and runtimes, and who ran what, when and on what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from engine.plugin import levers
from pages._ui.compare.column import Column, Value
from pages._ui.compare.variants import Variant
from pages._ui.forms import label_of
from pages._ui.new_study.model import FORMATS
from pages._ui.variants import runtime_name

PREFIX = "param."


def parameter_columns(variants: Sequence[Variant]) -> list[Column]:
    """One column per lever and parameter that some recipe uses, with the lever's default where none was given."""
    found: dict[tuple[str, str], None] = {}
    for one in variants:
        for step in one.run.spec.recipe.steps:
            for name in {**_defaults(step.lever), **step.params}:
                found[step.lever, name] = None
    return [_parameter(lever, name) for lever, name in sorted(found)]


def fact_columns() -> list[Column]:
    """What is known of a run besides its figures. `created_at` is the order of asking."""
    facts: dict[str, tuple[str, Callable[[Variant], Value]]] = {
        "runtime": ("Runtime", lambda one: runtime_name(one.run.spec.runtime)),
        "format": ("Format", _format),
        "device": ("Device", lambda one: one.run.device if one.run.artefact else None),
        "preset": ("Preset", lambda one: one.run.spec.preset),
        "created_at": ("When", lambda one: f"{one.run.created_at:%Y-%m-%d %H:%M}"),
        "created_by": ("Who", lambda one: one.run.created_by),
        "tags": ("Tags", lambda one: ", ".join(one.note.tags) or None if one.note else None),
        "experiment": ("Run", lambda one: one.id),
    }
    took = Column("duration_s", "Took", lambda one: one.run.duration_s, "run", unit="s", places=1)
    pairs = Column("n_pairs", "Process pairs", lambda one: one.here.n_pairs if one.here else None, "run", places=0)
    return [*(Column(key, title, value, "run") for key, (title, value) in facts.items()), took, pairs]


def _parameter(lever: str, name: str) -> Column:
    known = levers().get(lever)
    title = f"{known.title if known else lever}: {label_of(name).lower()}"

    def value(one: Variant) -> Value:
        given = [
            {**_defaults(step.lever), **step.params}.get(name)
            for step in one.run.spec.recipe.steps
            if step.lever == lever
        ]
        return _spelled(given)

    return Column(f"{PREFIX}{lever}.{name}", title, value, "parameter")


@cache
def _defaults(lever: str) -> dict[str, Any]:
    known = levers().get(lever)
    return {} if known is None else {name: field.default for name, field in known.model_fields.items()}


def _spelled(given: Sequence[Any]) -> Value:
    if not given:
        return None
    if len(given) == 1 and isinstance(given[0], int | float) and not isinstance(given[0], bool):
        return float(given[0])
    return ", ".join(_word(value) for value in given)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return " ".join(str(part) for part in value)
    return str(value).replace("_", " ")


def _format(one: Variant) -> Value:
    found = one.run.artefact
    return None if found is None else FORMATS.get(found.format, found.format)
