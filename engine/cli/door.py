"""What every command that touches the history opens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

from engine.settings import settings
from engine.workspace import Workspace
from storage.ledger import Ledger


@dataclass(frozen=True)
class Door:
    """History and files of this home."""

    ledger: Ledger
    workspace: Workspace
    user: str


@contextmanager
def door() -> Iterator[Door]:
    """Open the history (creating or upgrading it) and close it at the end."""
    known = settings()
    known.home.mkdir(parents=True, exist_ok=True)
    ledger = Ledger.open(known.database_url, known.home)
    try:
        yield Door(ledger, Workspace(known.home), known.user)
    finally:
        ledger.close()


def say_json(value: Any) -> None:
    """Print a JSON document: sorted as built, two spaces, text as it is."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def say_table(rows: list[dict[str, Any]], empty: str) -> None:
    """Print rows as an aligned text table, or one sentence when there are none."""
    if not rows:
        click.echo(empty)
        return
    texts = [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows]
    widths = {name: max(len(name), *(len(row[name]) for row in texts)) for name in texts[0]}
    click.echo("  ".join(name.ljust(width) for name, width in widths.items()).rstrip())
    for row in texts:
        click.echo("  ".join(row[name].ljust(width) for name, width in widths.items()).rstrip())
