"""Studies made as the product makes them: files taken in the confined child, bound, split, scored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from engine.data.choices import DataChoices
from engine.data.stored import load_rows, load_split
from engine.experiment import uploaded
from engine.intake import read_table, take_model
from engine.plugin import Artefact, reference_runtime
from engine.quality.report import judge
from engine.recipe import build, normalised
from engine.records import Choice, EvalSetInfo, QualityReport, Recipe, Step, Study
from engine.scoring import outputs
from engine.study import StudyRequest, Terms, create
from engine.workspace import Workspace


@dataclass(frozen=True)
class Made:
    """A study with what is needed to score it."""

    study: Study
    info: EvalSetInfo
    workspace: Workspace

    @property
    def evalset(self) -> Path:
        return self.workspace.evalset_folder(self.study.eval_set_id)

    def recipe(self, *steps: Step) -> Recipe:
        """The chain as a run spells it."""
        return normalised(Recipe(steps=steps))

    def chain(self, *steps: Step) -> list[Artefact]:
        """The original, then the artefact after each step."""
        source, recipe = uploaded(self.study, self.workspace), self.recipe(*steps)
        chain = build(source, recipe, self.evalset, self.workspace, seed=0, threads=1, progress=lambda f, t: None)
        return [source, *chain]

    def answers(self, *steps: Step, split: str = "selection") -> np.ndarray:
        """The judged output of a chain on one split."""
        artefact = self.chain(*steps)[-1]
        runtime = Choice(name=reference_runtime(artefact.manifest.format))
        found = outputs(artefact, runtime, self.evalset, split, self.workspace, threads=1)
        return np.asarray(found[self.study.signature.score_output])

    def quality(self, *steps: Step) -> QualityReport:
        """The report on the selection split."""
        split, rows = load_split(self.evalset, "selection"), load_rows(self.evalset, "selection")
        before, after = self.answers(), self.answers(*steps)
        return judge("selection", before, after, split.labels, rows, self.study.signature, self.study.promise.band)


def make_study(workspace: Workspace, model: Path, data: Path, terms: dict | None = None, **choices) -> Made:
    """A study of these files, without a history."""
    manifest = take_model(model, model.name, workspace)
    table_id, _ = read_table(data, data.name, workspace)
    request = StudyRequest(
        name="case",
        model_id=manifest.id,
        table_id=table_id,
        choices=DataChoices(**choices),
        terms=Terms(**(terms or {})),
        seed=0,
    )
    study, info = create(request, workspace)
    return Made(study, info, workspace)


@pytest.fixture
def make(tmp_path):
    """make(model, data, terms={…}, **choices) -> Made."""
    return partial(make_study, Workspace(tmp_path / "home"))
