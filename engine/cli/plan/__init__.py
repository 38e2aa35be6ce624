"""`plan`: from measured times to machines, money and waiting; every command is a file of this folder."""

from __future__ import annotations

import click

from engine.cli.lazy import Lazy

COMMANDS: dict[str, str] = {  # command -> what the overview says; the module has the same name
    "stages": "Where the time of a request goes, and what changing a stage would do.",
    "cost": "How many machines of each type, and what they cost.",
    "batching": "The batch cap and wait that keep a p95 budget.",
    "autoscale": "A fleet that scales beside a fixed one, on one trace, with its YAML.",
    "hedge": "What the slowest users see, and what a second copy would do.",
    "pack": "Which models fit on one machine, and how few machines hold them all.",
    "cache": "What a cache before the model saves.",
    "carbon": "Energy and carbon of a fleet, an estimate with its inputs.",
    "tokens": "Serving a language model: memory, batching, cost.",
}


@click.group("plan", cls=Lazy, package=__name__, overview=COMMANDS)
def command() -> None:
    """Plan how to serve a model: numbers in, numbers out, nothing is measured and nothing is kept."""
