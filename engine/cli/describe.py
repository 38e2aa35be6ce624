"""`describe`: what a model file is, without adding it to anything."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from engine.cli.door import say_json
from engine.intake import take_model
from engine.records import Manifest, TensorSpec
from engine.reports.numbers import size
from engine.workspace import Workspace


@click.command("describe")
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(model: Path, as_json: bool) -> None:
    """Show inputs, outputs, size, versions and warnings of a model file."""
    with tempfile.TemporaryDirectory(prefix="whetstone-") as folder:
        manifest = take_model(model, model.name, Workspace(Path(folder)))
    if as_json:
        say_json(manifest.model_dump(mode="json"))
        return
    click.echo("\n".join(_lines(model.name, manifest)))


def _lines(name: str, manifest: Manifest) -> list[str]:
    signature = manifest.signature
    lines = [f"{name}: {manifest.format}, {size(manifest.size_bytes)}, id {manifest.id[:12]}"]
    if manifest.n_trees is not None:
        lines.append(f"  trees       {manifest.n_trees:,}")
    if manifest.n_parameters is not None:
        lines.append(f"  parameters  {manifest.n_parameters:,}")
    lines += [f"  input       {_tensor(spec)}" for spec in signature.inputs]
    lines += [f"  output      {_tensor(spec)}" for spec in signature.outputs]
    for label, value in (
        ("task", signature.task),
        ("classes", ", ".join(signature.classes or ()) or None),
        ("judged", signature.score_output),
        ("kind", signature.output_kind),
    ):
        if value:
            lines.append(f"  {label:<10}  {value}")
    lines += [f"  {key:<10}  {value}" for key, value in manifest.versions.items()]
    return lines + [f"  warning     {text}" for text in manifest.warnings]


def _tensor(spec: TensorSpec) -> str:
    columns = f": {', '.join(spec.columns)}" if spec.columns else ""
    return f"{spec.name} {spec.dtype}[{', '.join(map(str, spec.shape))}]{columns}"
