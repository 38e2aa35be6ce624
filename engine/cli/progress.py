"""Waiting for experiments on a terminal: one line per change, and a clear end."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from engine.cli.door import Door
from engine.errors import WhetstoneError
from engine.jobs.submit import wait
from engine.records import Experiment, JobState
from engine.reports.compare import recipe_text


def wait_for(opened: Door, ids: Sequence[str]) -> list[Experiment]:
    """Show progress on stderr until all have ended. Raises WhetstoneError with the reason of the last that failed."""
    ended = []
    for experiment_id in ids:
        name = recipe_text(opened.ledger.experiment(experiment_id).spec.recipe)
        shown = _Line(name)
        ended.append(wait(opened.ledger, experiment_id, shown.show))
        shown.end(ended[-1])
    last = ended[-1]
    if last.status != "succeeded":
        reason = last.error.message if last.error else last.status
        raise WhetstoneError(f"experiment {last.id} {last.status}: {reason}")
    return ended


class _Line:
    """One line per phase on a pipe, a moving line on a terminal."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.last = ""

    def show(self, state: JobState) -> None:
        live = sys.stderr.isatty()
        percent = f" {state.progress:4.0%}" if live and state.progress is not None else ""
        detail = f" {state.message}" if live and state.message else ""
        text = f"{self.name}: {state.phase or state.status}{percent}{detail}"
        if text == self.last:
            return
        self.last = text
        click.echo(f"\r\x1b[2K{text[:110]}" if live else text, err=True, nl=not live)

    def end(self, experiment: Experiment) -> None:
        took = f" in {experiment.duration_s:.0f} s" if experiment.duration_s is not None else ""
        lead = "\r\x1b[2K" if sys.stderr.isatty() else ""
        click.echo(f"{lead}{self.name}: {experiment.status}{took}", err=True)
