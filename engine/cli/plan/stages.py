"""`plan stages`: where the time of a request goes, and what changing a stage would do."""

from __future__ import annotations

from pathlib import Path

import click

from engine.cli.door import say_json, say_table
from engine.errors import BadData, InvalidRequest
from engine.planning.stages import Change, Trace, by_replica, one_request, pool, profile, what_if
from engine.planning.trace_file import read_trace
from engine.reports.plan_stages import answer, changed, figures, formulas, replica_rows, rows

MODEL = "model"


@click.command("stages")
@click.option(
    "--trace",
    "paths",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="CSV or JSON with a row per request in ms, or OpenTelemetry spans. Repeat for several replicas.",
)
@click.option(
    "--stage", "typed", multiple=True, metavar="NAME=MS", help="Instead: a stage of a typical request. Repeat."
)
@click.option("--total", type=float, help="With --stage: the whole request in ms; the rest is waiting.")
@click.option("--model", metavar="NAME", help=f"The stage that is the model.  [default: {MODEL}]")
@click.option("--what-if", "changes", multiple=True, metavar="NAME=MS|NAME=xFACTOR", help="What a stage would become.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    paths: tuple[Path, ...],
    typed: tuple[str, ...],
    total: float | None,
    model: str | None,
    changes: tuple[str, ...],
    as_json: bool,
) -> None:
    """Name the largest stage at p50 and p99, and the most that work on each stage can give."""
    replicas = _measured(paths, typed, total)
    measured = pool(replicas)
    if model is None and MODEL in measured.names:
        model = MODEL
    if model is not None and model not in measured.names:
        raise InvalidRequest(f"there is no stage {model!r}; there are {', '.join(measured.names)}")
    before = profile(measured)
    after = profile(what_if(measured, dict(map(_change, changes)))) if changes else None
    if as_json:
        parts = [one.model_dump(mode="json") for one in by_replica(replicas)]
        say_json(figures(before, model, after) | ({"replicas": parts} if len(replicas) > 1 else {}))
        return
    click.echo(answer(before, model) + "\n")
    say_table(rows(before), "no stage")
    lines = ["", *before.notes, *formulas()]
    if after is not None:
        lines.insert(1, f"{', '.join(changes)}: {changed(before, after)}")
    click.echo("\n".join(lines))
    if len(replicas) > 1:
        click.echo(f"\nThe requests of {len(replicas)} replicas are pooled; the slowest replica first")
        say_table(replica_rows(by_replica(replicas)), "none")


def _measured(paths: tuple[Path, ...], typed: tuple[str, ...], total: float | None) -> dict[str, Trace]:
    """Replica -> its requests."""
    if (not paths) == (not typed):
        raise InvalidRequest("say what a request spends by --trace FILE, or by --stage NAME=MS several times")
    if typed:
        return {"typed": one_request(dict(map(_typed, typed)), total)}
    if total is not None:
        raise InvalidRequest("--total belongs to --stage; in a file it is the column total")
    return {str(path): _read(path) for path in paths}


def _read(path: Path) -> Trace:
    try:
        return read_trace(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise BadData(f"{path.name} is no text in UTF-8") from None


def _typed(text: str) -> tuple[str, float]:
    name, _, ms = text.rpartition("=")
    try:
        return _name(name, text), float(ms)
    except ValueError:
        raise InvalidRequest(f"--stage {text!r} cannot be read: write name=ms, as model=2") from None


def _change(text: str) -> tuple[str, Change]:
    name, _, value = text.rpartition("=")
    try:
        change = Change(factor=float(value[1:])) if value[:1] in ("x", "×") else Change(ms=float(value))
        return _name(name, text), change
    except ValueError:
        raise InvalidRequest(f"--what-if {text!r} cannot be read: write name=ms or name=x0.5") from None


def _name(name: str, text: str) -> str:
    if not name.strip():
        raise InvalidRequest(f"{text!r} names no stage: write name=ms")
    return name.strip()
