"""`doctor`: this machine, its limits, and which runtimes exist and why others do not."""

from __future__ import annotations

import platform
import sys
import time
from typing import Any

import click

from engine import sandbox
from engine.cli.door import say_json, say_table
from engine.environment import describe
from engine.jobs.locks import PhaseLocks, lock_folder
from engine.measurement.self_test import NoiseFloor
from engine.noise_floor import known_noise_floor, measure_noise_floor
from engine.plugin import Runtime, runtimes
from engine.settings import settings

LOCK_POLL_S = 0.2
SYSTEM_NOTES = {
    "Darwin": "macOS: no pinning to cores and no hard memory limit; timings are less certain.",
    "Windows": "Windows: run Whetstone inside WSL 2.",
}


@click.command("doctor")
@click.option("--aa", is_flag=True, help="Time a small model against itself (a minute) and keep the noise floor.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(aa: bool, as_json: bool) -> None:
    """Show the machine, CPU flags, quota, limits that hold, accelerators and runtimes."""
    noise = _self_test() if aa else known_noise_floor(settings().home)
    found = {**report(), "noise_floor": noise.model_dump(mode="json") if noise else None}
    if aa and noise:
        found["aa"] = noise.aa
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
    click.echo(f"Noise floor   {_noise_text(noise)}")
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


def _self_test() -> NoiseFloor:
    """Wait until nobody else computes or measures on this machine, then run the self-test."""
    locks = PhaseLocks(lock_folder())
    try:
        if not locks.try_acquire("time"):
            click.echo("waiting for the machine", err=True)
        while not locks.try_acquire("time"):
            time.sleep(LOCK_POLL_S)
        live = sys.stderr.isatty()
        return measure_noise_floor(
            settings().home,
            progress=lambda fraction, text: (
                click.echo(f"\r\x1b[2Kself-test {fraction:.0%}", err=True, nl=False) if live else None
            ),
        )
    finally:
        locks.release()


def _noise_text(noise: NoiseFloor | None) -> str:
    if noise is None:
        return "not measured here; measure it with: doctor --aa"
    widths = ", ".join(
        f"{name} ±{width:.1%}{' of processor time' if noise.clocks[name] == 'cpu' else ''}"
        for name, width in noise.half_widths.items()
    )
    what = f"{noise.n_pairs} pairs of one small model, {noise.measured_at:%Y-%m-%d}"
    if noise.verdict in ("faster", "slower"):
        return f"{widths} ({what}); equal models looked {noise.verdict}: do not trust timings made now"
    return f"{widths} ({what}: {noise.verdict})"


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
