"""What it costs to fetch features, as a team writes it down, and what fewer of them save."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import InvalidRequest

COLUMNS = ("feature", "group", "ms", "price")


@dataclass(frozen=True)
class Cost:
    """Of one fetch. price: in the unit of the file."""

    ms: float
    price: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.ms + other.ms, self.price + other.price)


@dataclass(frozen=True)
class FeatureCosts:
    """Feature -> its group; group -> what one fetch of it costs. Features of one group arrive together."""

    group_of: dict[str, str]
    groups: dict[str, Cost]

    def saved(self, kept: Iterable[str], all_features: Iterable[str]) -> Cost:
        """What is saved when only `kept` are read: the groups that none of them needs, fetched one after another."""
        needed = {self.group_of[name] for name in kept if name in self.group_of}
        used = {self.group_of[name] for name in all_features if name in self.group_of}
        total = Cost(0.0, 0.0)
        for group in sorted(used - needed):
            total += self.groups[group]
        return total

    def unknown(self, features: Iterable[str]) -> list[str]:
        """Features that the file does not name: their fetch time is unknown."""
        return [name for name in features if name not in self.group_of]


def read_costs(path: Path) -> FeatureCosts:
    """A CSV file with the columns feature, group, ms and price; a feature without a group is fetched alone.

    A group is one fetch and costs what its dearest member says. Raises InvalidRequest naming the line.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if missing := [name for name in COLUMNS if name not in (reader.fieldnames or ())]:
                raise InvalidRequest(
                    f"{path.name} has no column {', '.join(missing)}; the first line must be {','.join(COLUMNS)}"
                )
            lines = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidRequest(f"{str(path)!r} cannot be read as CSV: {error}") from error
    group_of: dict[str, str] = {}
    groups: dict[str, Cost] = {}
    for at, line in enumerate(lines, start=2):
        name = (line["feature"] or "").strip()
        if not name or name in group_of:
            raise InvalidRequest(
                f"{path.name}, line {at}: the feature {name!r} is {'named twice' if name else 'empty'}"
            )
        group = (line["group"] or "").strip() or f"only {name}"
        cost = Cost(*(_number(line[key], f"{path.name}, line {at}, {key}") for key in ("ms", "price")))
        known = groups.get(group, Cost(0.0, 0.0))
        group_of[name], groups[group] = group, Cost(max(known.ms, cost.ms), max(known.price, cost.price))
    return FeatureCosts(group_of, groups)


def _number(text: str | None, where: str) -> float:
    try:
        value = float(text or 0)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise InvalidRequest(f"{where} must be a number of 0 or more, got {text!r}")
    return value
