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
    evalset = workspace.evalset_folder(study.eval_set_id)
    source = workspace.artefact(manifest)
    lever = EXPORTS.get(manifest.format)
    if lever is None:
        return SampleStudy(name, study, source, evalset)
    recipe = Recipe(steps=(Step(lever=lever),))
    (artefact,) = build(source, recipe, evalset, workspace, seed=0, threads=1, progress=lambda fraction, text: None)
    return SampleStudy(name, study, artefact, evalset)
