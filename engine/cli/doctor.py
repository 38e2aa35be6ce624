"""`doctor`: this machine, its limits, and which runtimes exist and why others do not."""

from __future__ import annotations

import platform
from typing import Any

import click

from engine import sandbox
from engine.cli.door import say_json, say_table
from engine.environment import describe
from engine.plugin import Runtime, runtimes
from engine.settings import settings

SYSTEM_NOTES = {
    "Darwin": "macOS: no pinning to cores and no hard memory limit; timings are less certain.",
    "Windows": "Windows: run Whetstone inside WSL 2.",
}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """Show the machine, CPU flags, quota, limits that hold, accelerators and runtimes."""
    found = report()
    if as_json:
        say_json(found)
        return
    machine = found["machine"]
    click.echo(f"Machine       {machine['processor']}, {machine['usable_cores']} of {machine['n_cores']} cores usable")
    click.echo(f"System        {machine['system']} ({machine['architecture']}), Python {machine['python']}")
    click.echo(f"CPU flags     {' '.join(machine['cpu_flags']) or 'none that matter'}")
    click.echo(f"CPU quota     {machine['cpu_quota'] or 'none'}")
    click.echo(
        f"Memory        {machine['memory_bytes'] / 1e9:.1f} GB, {machine['free_memory_bytes'] / 1e9:.1f} GB free"
    )
    click.echo(f"Accelerators  {', '.join(machine['accelerators']) or 'none found'}")
    click.echo(f"Home          {found['home']}")
    click.echo(f"History       {found['history']}")
    for note in found["notes"]:
        click.echo(f"Note          {note}")
    click.echo("\nLimits around a model file")
    say_table([{"limit": name, "holds": "yes" if held else "no"} for name, held in found["limits"].items()], "none")
    click.echo("\nRuntimes")
    say_table(
        [
            {"runtime": row["name"], "state": row["reason"] or "ready", "opens": ", ".join(row["accepts"])}
            for row in found["runtimes"]
        ],
        "none",
    )


def report() -> dict[str, Any]:
    """Everything `doctor --json` prints."""
    machine = describe()
    known = settings()
    return {
        "machine": machine,
        "limits": sandbox.held(),
        "runtimes": [
            {"name": name, "accepts": sorted(cls.accepts), "reference": cls.reference, "reason": _reason(cls)}
            for name, cls in runtimes().items()
        ],
        "home": str(known.home),
        "history": "SQLite" if known.database_url.startswith("sqlite") else "PostgreSQL",
        "notes": [SYSTEM_NOTES[name] for name in (platform.system(),) if name in SYSTEM_NOTES],
    }


def _reason(cls: type[Runtime]) -> str | None:
    missing = cls.missing_library()
    return f"needs the Python package {missing}" if missing else None
