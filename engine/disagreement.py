"""The disagreements of one experiment with the original, on the selection rows: those are there to be looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from engine import scoring
from engine.data.stored import load_rows, load_split
from engine.errors import InvalidRequest
from engine.experiment import uploaded
from engine.plugin import reference_runtime
from engine.quality.disagreements import worst_rows
from engine.records import Choice, Disagreement, Experiment, Study
from engine.workspace import Workspace


def disagreements(
    experiment: Experiment,
    study: Study,
    workspace: Workspace,
    *,
    within: Sequence[tuple[str, str]] = (),
    limit: int = 50,
) -> list[Disagreement]:
    """The worst rows first, see `worst_rows`. Answers that are not stored any more are computed again.

    Raises InvalidRequest for an experiment without a result.
    """
    before, after, labels, rows = on_selection(experiment, study, workspace)
    return worst_rows(before, after, labels, rows, study.signature, within=within, limit=limit)


def on_selection(
    experiment: Experiment, study: Study, workspace: Workspace
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, pd.DataFrame]:
    """The original's and the experiment's judged output on the selection rows, their labels, and the rows.

    Answers that are not stored any more are computed again. Raises InvalidRequest for an experiment without a result.
    """
    if experiment.artefact is None:
        raise InvalidRequest(f"experiment {experiment.id} is {experiment.status}; there are no answers to compare")
    original = uploaded(study, workspace)
    evalset = workspace.evalset_folder(study.eval_set_id)
    judged = study.signature.score_output or study.signature.outputs[0].name
    sides = (
        (original, Choice(name=reference_runtime(original.manifest.format))),
        (workspace.artefact(experiment.artefact), experiment.spec.runtime),
    )
    before, after = (
        scoring.outputs(artefact, runtime, evalset, "selection", workspace, threads=study.workload.threads)[judged]
        for artefact, runtime in sides
    )
    return before, after, load_split(evalset, "selection").labels, load_rows(evalset, "selection")
