"""Between what a person says about columns and what the roles table shows: one role each, and "also a slice"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from engine.data.choices import DataChoices
from engine.data.profile import TableProfile
from engine.data.roles import guess_roles
from engine.errors import WhetstoneError
from engine.records import Role, Signature

ROLES: tuple[Role, ...] = get_args(Role)
SINGLE: dict[Role, str] = {"label": "label", "group": "group", "id": "id", "weight": "weight", "split": "split_column"}
ABOUT_COLUMNS = ("roles", "labels", "slices", *SINGLE.values())
MEANING: dict[Role, str] = {
    "feature": "goes into the model",
    "label": "the truth",
    "slice": "judged value by value",
    "group": "rows that stay together",
    "id": "names the row",
    "weight": "counts the row more or less",
    "split": "train, calibration, selection or certification",
    "ignored": "not used",
}


def guessed(profile: TableProfile, signature: Signature, said: Mapping[str, Any]) -> dict[str, Role]:
    """The role of every column when nobody says anything about columns."""
    return guess_roles(profile, signature, choices=DataChoices(**_without_columns(said)))


def shown(profile: TableProfile, signature: Signature, said: Mapping[str, Any]) -> tuple[dict[str, Role], set[str]]:
    """The role of every column as things stand, and the columns whose values are judged beside another role."""
    choices = DataChoices(**said)
    roles = guess_roles(profile, signature, choices=choices)
    return roles, {name for name in choices.slices or () if roles.get(name) != "slice"}


def with_roles(
    said: Mapping[str, Any], roles: Mapping[str, Role], also: set[str], guess: Mapping[str, Role]
) -> dict[str, Any]:
    """What is said, with these roles: only what differs from the guess, so that a better guess may still come."""
    kept = _without_columns(said)
    slices = tuple(name for name, role in roles.items() if role == "slice" or name in also)
    named = also | set(slices) if also else set()  # with slices named, the guess no longer finds any: say each role
    changed = {name: role for name, role in roles.items() if role != guess.get(name) or name in named}
    if changed:
        kept["roles"] = changed
    if also:
        kept["slices"] = slices
    labels = said.get("labels")
    if labels and set(labels) == {name for name, role in roles.items() if role == "label"}:
        kept["labels"] = tuple(labels)  # their order
    for role, name in SINGLE.items():  # a group, id or weight that goes into the model as well keeps both jobs
        column = said.get(name)
        if column is not None and role not in ("label", "split") and roles.get(column) == "feature":
            kept[name] = column
    return kept


def said_of_labels(said: Mapping[str, Any], roles: Mapping[str, Role], labels: tuple[str, ...]) -> dict[str, Any]:
    """What is said, with these columns as labels in this order; what was a label before and is none now is ignored."""
    changed: dict[str, Role] = dict(said.get("roles") or {})
    changed |= {name: "ignored" for name, role in roles.items() if role == "label" and name not in labels}
    changed |= dict.fromkeys(labels, "label")
    return {**said, "roles": changed, "labels": labels}


def as_roles(said: Mapping[str, Any], profile: TableProfile, signature: Signature) -> dict[str, Any]:
    """What was said elsewhere (a sample, another study, the command line), in the terms of the roles table.

    Names that this file does not have are left out.
    """
    known = set(profile.names)
    fitting = {name: value for name, value in said.items() if name not in ABOUT_COLUMNS}
    fitting |= {name: said[name] for name in SINGLE.values() if said.get(name) in known}
    fitting["roles"] = {name: role for name, role in (said.get("roles") or {}).items() if name in known}
    if said.get("slices") is not None:
        fitting["slices"] = tuple(name for name in said["slices"] if name in known)
    if set(said.get("labels") or ()) <= known and said.get("labels"):
        fitting["labels"] = tuple(said["labels"])
    if not set(said.get("feature_order") or ()) <= known:
        del fitting["feature_order"]
    try:
        roles, also = shown(profile, signature, fitting)
        return with_roles(fitting, roles, also, guessed(profile, signature, fitting))
    except WhetstoneError:
        return {}


def _without_columns(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if name not in ABOUT_COLUMNS}
