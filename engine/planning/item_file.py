"""Items to pack from a CSV file."""

from __future__ import annotations

import csv
import io

from engine.errors import BadData
from engine.records.checked import checked
from engine.records.packing import Item

NEEDED = {"name", "memory_mb", "compute_milli"}
SWITCHES = ("noisy", "dedicated", "latency_sensitive")
WORDS = {"": False, "0": False, "no": False, "false": False, "1": True, "yes": True, "true": True}


def read_items(text: str) -> tuple[Item, ...]:
    """One item a line: name, memory_mb, compute_milli and, where wanted, priority and the switches (yes or no)."""
    reader = csv.DictReader(io.StringIO(text))
    columns = set(reader.fieldnames or ())
    known = NEEDED | {"priority", *SWITCHES}
    if not columns >= NEEDED or not columns <= known:
        raise BadData(
            f"items need the columns {', '.join(sorted(NEEDED))}; allowed are {', '.join(sorted(known - NEEDED))}; "
            f"got {', '.join(sorted(str(name) for name in columns)) or 'none'}"
        )
    try:
        return tuple(_item(number, row) for number, row in enumerate(reader, 2))
    except csv.Error as error:
        raise BadData(f"the items are no CSV: {error}") from error


def _item(number: int, row: dict[str | None, str | None]) -> Item:
    values = {str(name): (value or "").strip() for name, value in row.items() if isinstance(value, str)}
    try:
        switches = {name: WORDS[values[name].lower()] for name in SWITCHES if name in values}
    except KeyError as error:
        raise BadData(f"line {number}: {error} is neither yes nor no") from None
    numbers = {name: values.get(name, "") for name in ("memory_mb", "compute_milli")}
    priority = {"priority": values["priority"]} if values.get("priority") else {}
    item: Item = checked(Item, name=values.get("name", ""), **numbers, **priority, **switches)
    return item
