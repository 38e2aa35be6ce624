"""A sample as an ONNX model bound to its rows, in a workspace of its own and without a history."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.data.choices import DataChoices
from engine.intake import read_table, take_model
from engine.plugin import Artefact
from engine.recipe import build
from engine.records import Recipe, Step, Study
from engine.study import StudyRequest, Terms, create
from engine.workspace import Workspace
from sample_models import samples

EXPORTS = {"torch_export": "export.torch_to_onnx", "lightgbm": "export.lightgbm_to_onnx"}


@dataclass(frozen=True)
class SampleStudy:
    """What is needed to time it."""

    name: str
    study: Study
    artefact: Artefact
    evalset: Path


def onnx_sample(name: str, home: Path) -> SampleStudy:
    """Bring the sample, bind its data, export it where it is not ONNX yet."""
    study, source, workspace = _brought(name, home)
    lever = EXPORTS.get(source.manifest.format)
    steps = () if lever is None else (Step(lever=lever),)
    return SampleStudy(
        name, study, _built(study, source, workspace, steps), workspace.evalset_folder(study.eval_set_id)
    )


def chained_sample(name: str, home: Path, steps: tuple[Step, ...]) -> tuple[Artefact, Artefact]:
    """The model of a sample as it came, and after the steps."""
    study, source, workspace = _brought(name, home)
    return source, _built(study, source, workspace, steps)


def _brought(name: str, home: Path) -> tuple[Study, Artefact, Workspace]:
    sample = samples()[name]
    home.mkdir(parents=True)
    workspace = Workspace(home)
    manifest = take_model(sample.model, sample.model.name, workspace)
    table_id, _ = read_table(sample.data, sample.data.name, workspace)
    request = StudyRequest(
        name=sample.title,
        model_id=manifest.id,
        table_id=table_id,
        choices=DataChoices(**sample.choices),
        terms=Terms(goal=sample.goal, metric=sample.metric),
    )
    study, _ = create(request, workspace)
    return study, workspace.artefact(manifest), workspace


def _built(study: Study, source: Artefact, workspace: Workspace, steps: tuple[Step, ...]) -> Artefact:
    if not steps:
        return source
    evalset = workspace.evalset_folder(study.eval_set_id)
    return build(
        source, Recipe(steps=steps), evalset, workspace, seed=0, threads=1, progress=lambda fraction, text: None
    )[-1]
