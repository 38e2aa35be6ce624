"""Numbers that options take in groups, and files they name."""

from __future__ import annotations

import math
from pathlib import Path

from engine.errors import BadData, InvalidRequest


def numbers(option: str, text: str, count: int) -> tuple[float, ...]:
    """`a:b:…` as so many numbers. Raises InvalidRequest with the option and what was given."""
    try:
        found = tuple(float(part) for part in text.split(":"))
    except ValueError:
        found = ()
    if len(found) != count or not all(math.isfinite(number) for number in found):
        raise InvalidRequest(f"{option} {text[:80]!r} cannot be read: write {count} numbers with : between them")
    return found


def number_pairs(option: str, texts: tuple[str, ...]) -> list[tuple[float, float]]:
    """Every `a:b` of an option that may be given several times."""
    return [(pair[0], pair[1]) for pair in (numbers(option, text, 2) for text in texts)]


def read_text(path: Path) -> str:
    """A text file. Raises BadData when it is none."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadData(f"{path.name} is no text in UTF-8") from None
