"""Values of an XGBoost document, each checked before it is used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.errors import BadModel

MOST = 1 << 24
_PARAMETER = re.compile(r"[\w.,:+\-\[\]()' ]{0,2000}")


def damaged(where: str, what: str) -> BadModel:
    """The error of every file that is not what XGBoost writes."""
    return BadModel(f"the XGBoost file is damaged or was made by another version: {where}: {what}. Save it again.")


def object_of(found: Any, key: str, where: str) -> dict[str, Any]:
    """The object under a key."""
    value = found.get(key) if isinstance(found, dict) else None
    if not isinstance(value, dict):
        raise damaged(where, f"the object {key!r} is missing")
    return value


def list_of(found: dict[str, Any], key: str, where: str) -> list[Any]:
    """The list under a key; it must hold something."""
    value = found.get(key)
    if not isinstance(value, list) or not value:
        raise damaged(where, f"the list {key!r} is missing or empty")
    return value


def text_of(found: dict[str, Any], key: str, where: str) -> str:
    """The text under a key."""
    value = found.get(key)
    if not isinstance(value, str):
        raise damaged(where, f"the text {key!r} is missing")
    return value


def texts_of(found: Any, where: str) -> dict[str, str]:
    """An object of plain texts: parameters as XGBoost writes them."""
    plain = isinstance(found, dict) and all(
        isinstance(value, str) and _PARAMETER.fullmatch(value) and re.fullmatch(r"\w{1,64}", key)
        for key, value in found.items()
    )
    if not plain:
        raise damaged(where, "it is not an object of plain texts")
    return dict(found)


def whole_of(parameters: Mapping[str, str], key: str, lowest: int, highest: int) -> int:
    """A whole number that is written as a text."""
    text = parameters.get(key, "")
    if not re.fullmatch(r"\d{1,10}", text) or not lowest <= int(text) <= highest:
        raise damaged(key, f"it is {text[:40]!r}, allowed is {lowest} to {highest}")
    return int(text)


def words_of(found: dict[str, Any], key: str, n: int, allowed: tuple[str, ...] = ()) -> list[str]:
    """A list of n texts, or of none, of the allowed ones where some are named."""
    values = found.get(key, [])
    fits = isinstance(values, list) and all(isinstance(value, str) for value in values)
    if not fits or len(values) not in (0, n) or (allowed and set(values) - set(allowed)):
        raise damaged(key, f"it is not a list of {n} texts{' of known kinds' if allowed else ''}")
    return list(values)


def whole_numbers(found: Any, where: str, n: int | None, lowest: int, highest: int) -> np.ndarray:
    """A list of integers as int64, checked."""
    try:
        values = np.asarray(found)
    except (ValueError, OverflowError):
        values = np.zeros((0, 0))
    plain = isinstance(found, list | np.ndarray) and values.ndim == 1 and (values.dtype.kind in "iu" or not len(values))
    if not plain or n not in (None, len(values)):
        raise damaged(where, f"it is not a list of {'' if n is None else n} integers")
    values = values.astype(np.int64)
    if len(values) and not lowest <= values.min() <= values.max() <= highest:
        raise damaged(where, f"a value lies outside {lowest} to {highest}")
    return values


def real_numbers(found: Any, where: str, n: int) -> np.ndarray:
    """A list of n finite numbers as float32, checked."""
    try:
        values = np.asarray(found)
    except ValueError:
        values = np.zeros((0, 0))
    if not isinstance(found, list | np.ndarray) or values.shape != (n,) or (n and values.dtype.kind not in "fiu"):
        raise damaged(where, f"it is not a list of {n} numbers")
    with np.errstate(over="ignore"):
        values = values.astype(np.float32)
    if not np.isfinite(values).all():
        raise damaged(where, "a number is not finite")
    return values
