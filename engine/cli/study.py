"""`study new|list|show`: bring a model and an evaluation set; see what there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import click

from engine.cli.brought import brought
from engine.cli.door import door, say_json, say_table
from engine.cli.progress import wait_for
from engine.data.profile import TableProfile
from engine.errors import InvalidRequest
from engine.records import Goal, Metric, OutputKind, Task, Workload
from engine.records.checked import checked
from engine.study import StudyRequest, Terms


@click.group("study")
def command() -> None:
    """Create, list and show studies."""


@command.command("new")
@click.option(
    "--model", type=click.Path(path_type=Path), help="ONNX, zip of ONNX, LightGBM text, XGBoost, .pt2 or TorchScript."
)
@click.option("--data", type=click.Path(path_type=Path), help="CSV, Parquet, Feather or NPZ.")
@click.option(
    "--from", "from_study", metavar="STUDY", help="Another study: its model, its rows and what was said about them."
)
@click.option("--train-data", type=click.Path(path_type=Path), help="More rows, for levers only.")
@click.option(
    "--label",
    metavar="COLUMN|a,b,…",
    help="Column that holds the truth, or one of 0 and 1 per class (default: guessed).",
)
@click.option("--label-separator", help="Between the labels of a text that names several, for example '|'.")
@click.option("--task", type=click.Choice(get_args(Task)), help="Default: from the model and the labels.")
@click.option("--output", metavar="NAME=KIND", help=f"Judged output and its kind: {', '.join(get_args(OutputKind))}.")
@click.option("--classes", metavar="a,b,…", help="Label text of each score column, in order.")
@click.option("--slices", metavar="a,b,…", help="Columns whose values are judged one by one.")
@click.option("--features", metavar="a,b,…", help="Feature columns in the order of the model's input.")
@click.option("--group", help="Column whose rows stay together (user, session, query).")
@click.option("--weight", help="Column with a weight per row.")
@click.option("--split-column", help="Column that says train, calibration, selection or certification.")
@click.option("--metric", default="auto", show_default=True, type=click.Choice(["auto", *get_args(Metric)]))
@click.option("--max-drop", default=0.01, show_default=True, type=float, help="Loss allowed overall.")
@click.option("--slice-max-drop", default=0.02, show_default=True, type=float, help="Loss allowed in each slice.")
@click.option("--tau", type=float, help="Quantile that the pinball loss judges, for example 0.9.")
@click.option("--judged-slices", metavar="a,b,…", help="Slice columns the promise is about (default: all of them).")
@click.option("--all-slices", is_flag=True, help="A slice with too few rows keeps everything from being certified.")
@click.option("--certificates", default=3, show_default=True, type=int, help="Variants that may be certified.")
@click.option("--goal", default="p50=3", show_default=True, help="p50, p99 or cost, and the factor.")
@click.option("--batch", default=1, show_default=True, type=int, help="Primary batch size.")
@click.option("--threads", default=1, show_default=True, type=int, help="Threads of one serving process.")
@click.option("--price", type=float, help="Price of one replica for an hour.")
@click.option("--currency", default="USD", show_default=True)
@click.option("--encoding", help="Encoding of a CSV (default: detected).")
@click.option("--separator", help="Separator of a CSV (default: detected).")
@click.option("--name", required=True, help="Name of the study.")
@click.option("--no-wait", is_flag=True, help="Only queue the baseline.")
def new(**given: Any) -> None:
    """Create a study and run its baseline. Prints the study id on the last line."""
    from engine.data.choices import DataChoices
    from engine.jobs.start import create_study

    with door() as opened:
        choices = _choices(given)
        anew = bool(choices) or bool(given["label"]) or given["train_data"] is not None
        found = brought(opened, given, said_anything=anew)
        if found.profile is not None and given["label"]:
            choices |= _labels(given["label"], found.profile)
        request = checked(
            StudyRequest,
            name=given["name"],
            model_id=found.model.id,
            table_id=found.table_id,
            data_name=found.data_name,
            train_table_id=found.train_table_id,
            train_name=found.train_name,
            choices=checked(DataChoices, **{**found.choices, **choices}),
            terms=checked(
                Terms,
                goal=_goal(given["goal"]),
                metric=given["metric"],
                max_drop=given["max_drop"],
                slice_max_drop=given["slice_max_drop"],
                slices=_names(given["judged_slices"]),
                require_all_slices=given["all_slices"],
                tau=given["tau"],
                n_certificates=given["certificates"],
            ),
            workload=checked(Workload, batch_size=given["batch"], threads=given["threads"]),
            price_per_hour=given["price"],
            currency=given["currency"],
            created_by=opened.user,
        )
        opened.ledger.add_model(found.model, found.model_name)
        study = create_study(opened.ledger, request, found.bound)
        for note in opened.ledger.eval_set(study.eval_set_id).notes:
            click.echo(f"note: {note}", err=True)
        if not given["no_wait"]:
            wait_for(opened, [row.id for row in opened.ledger.experiments(study_id=study.id)])
    click.echo(study.id)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> None:
    """List the studies."""
    with door() as opened:
        studies = opened.ledger.studies()
    if as_json:
        say_json([study.model_dump(mode="json") for study in studies])
        return
    rows = [
        {
            "study": study.id,
            "name": study.name,
            "task": study.signature.task,
            "goal": f"{study.promise.goal.kind} {study.promise.goal.factor:g}x",
            "created": study.created_at.strftime("%Y-%m-%d %H:%M"),
            "by": study.created_by,
        }
        for study in studies
    ]
    say_table(rows, "no studies yet; start one with: python -m engine sample flight_delay")


@command.command("show")
@click.argument("study_ref", metavar="STUDY")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(study_ref: str, as_json: bool) -> None:
    """Show a study: its model, its evaluation set and its promise."""
    with door() as opened:
        study = opened.ledger.study(study_ref)
        manifest = opened.ledger.model(study.model_id)
        info = opened.ledger.eval_set(study.eval_set_id)
        frozen = opened.ledger.promise_frozen_at(study.id)
    if as_json:
        parts = {"study": study, "model": manifest, "eval_set": info}
        say_json({**{name: part.model_dump(mode="json") for name, part in parts.items()}, "promise_frozen_at": frozen})
        return
    band, goal = study.promise.band, study.promise.goal
    unit = " of the baseline" if band.relative else ""
    click.echo(f"{study.name} ({study.id})")
    click.echo(f"  model       {manifest.format} {manifest.id[:12]}, {manifest.size_bytes:,} bytes")
    click.echo(f"  data        {info.n_rows:,} rows; " + ", ".join(f"{name} {n:,}" for name, n in info.splits.items()))
    click.echo(
        f"  task        {study.signature.task}; output {study.signature.score_output} ({study.signature.output_kind})"
    )
    click.echo(f"  goal        {goal.kind} at least {goal.factor:g}x better at batch {study.workload.batch_size}")
    click.echo(
        f"  band        {band.metric or 'no label'}: at most {band.max_drop:g}{unit}, "
        f"each slice {band.slice_max_drop:g}{unit}"
    )
    click.echo(f"  promise     {'frozen ' + frozen.strftime('%Y-%m-%d %H:%M') if frozen else 'not frozen yet'}")
    for note in info.notes:
        click.echo(f"  note        {note}")


def _names(text: str | None) -> tuple[str, ...] | None:
    return tuple(part.strip() for part in text.split(",") if part.strip()) if text else None


def _choices(given: dict[str, Any]) -> dict[str, Any]:
    """What is said about the rows, the label apart: only what was given, by the fields of DataChoices."""
    output, kind = _output(given["output"])
    said = {
        "label_separator": given["label_separator"],
        "task": given["task"],
        "output": output,
        "output_kind": kind,
        "classes": _names(given["classes"]),
        "slices": _names(given["slices"]),
        "feature_order": _names(given["features"]),
        "group": given["group"],
        "weight": given["weight"],
        "split_column": given["split_column"],
    }
    return {name: value for name, value in said.items() if value is not None}


def _labels(text: str | None, profile: TableProfile) -> dict[str, Any]:
    """One column of this name, else several with commas between them."""
    names = _names(text)
    several = names is not None and len(names) > 1 and profile.column(str(text)) is None
    return {"labels": names} if several else {"label": text}


def _output(text: str | None) -> tuple[str | None, str | None]:
    if text is None:
        return None, None
    name, equals, kind = text.rpartition("=")
    if not equals or kind not in get_args(OutputKind):
        raise InvalidRequest(f"--output is NAME=KIND with KIND one of {', '.join(get_args(OutputKind))}; got {text!r}")
    return name, kind


def _goal(text: str) -> Goal:
    kind, equals, factor = text.partition("=")
    if not equals or not re.fullmatch(r"\d+(\.\d+)?", factor):
        raise InvalidRequest(f"--goal is p50, p99 or cost with a factor, for example p50=3; got {text!r}")
    goal: Goal = checked(Goal, kind=kind, factor=float(factor))
    return goal
