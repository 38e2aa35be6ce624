"""The command group: every command is a file beside this one."""

from __future__ import annotations

import sys

import click

from engine.cli.lazy import Lazy
from engine.errors import WhetstoneError

COMMANDS = {  # command -> what the overview says; the module has the same name
    "describe": "What a model file is, without adding it.",
    "sample": "Create a study from a sample and run its baseline.",
    "study": "Create, list and show studies.",
    "levers": "What can be done to a model.",
    "run": "Try a chain of levers, or another runtime.",
    "compare": "The table of a study, baseline first.",
    "certify": "Judge a variant on rows that no choice has seen.",
    "disagreements": "The rows on which a variant differs most.",
    "curve": "Quality by number of trees or of features.",
    "sweep": "Latency and items/s by batch size, and the line through them.",
    "profile": "Time per operator, before beside after.",
    "plan": "Machines, money, batching and waiting, from numbers.",
    "experiments": "What was run.",
    "doctor": "This machine, its limits and runtimes.",
}


class Front(Lazy):
    """Turns our errors into one line."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a WhetstoneError becomes one clear line and exit status 1."""
        try:
            return super().invoke(ctx)
        except WhetstoneError as error:
            raise click.ClickException(
                " ".join(str(error).split()) if "\n" not in str(error) else str(error)
            ) from error


@click.group(
    cls=Front, package=__package__, overview=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option("0.1.0", prog_name="whetstone")
def cli() -> None:
    """Make a trained model cheaper to serve, and show that it is still good.

    Files are kept below WHETSTONE_HOME (default ~/.whetstone); the dashboard shows the same history.
    """


def main() -> None:
    """Entry of `python -m engine`."""
    try:
        cli(prog_name="python -m engine")
    except BrokenPipeError:  # `… | head` closed our output
        sys.exit(0)
