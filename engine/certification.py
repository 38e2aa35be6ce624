"""The explicit act: score the certification rows, judge them by the frozen promise, write it all down. No database.

Nothing else reads the answers of these rows: levers, Compare and every search see the other splits only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
from ulid import ULID

from engine import sandbox, scoring
from engine.data.stored import load_rows, load_split
from engine.environment import describe
from engine.errors import BadData, Conflict, InvalidRequest
from engine.experiment import uploaded
from engine.leakage import Marks, check_leakage
from engine.plugin import Artefact, reference_runtime
from engine.quality.certify import Prediction, array_sha256, certify
from engine.records import Certificate, Choice, Experiment, Hashes, Promise, QualityReport, Signature, Study
from engine.slice_columns import slice_columns
from engine.workspace import Workspace

SEED = 0  # of every bootstrap: who checks a certificate gets the same figures
Progress = Callable[[float, str], None]
Score = Callable[[Artefact, Choice, Progress], dict[str, np.ndarray]]


@dataclass(frozen=True)
class Question:
    """What is judged: two models on the certification rows of one evaluation set, by one promise."""

    original: Artefact
    variant: Artefact
    baseline_runtime: Choice
    runtime: Choice
    threads: int
    evalset: Path
    signature: Signature
    promise: Promise
    gate_passed: bool


def issue(
    experiment: Experiment,
    study: Study,
    workspace: Workspace,
    *,
    promise_frozen_at: datetime | None,
    promise_sha256: str | None,
    created_by: str,
    progress: Progress = lambda fraction, text: None,
) -> Certificate:
    """The certificate of a finished variant, not yet numbered: the history does that when it takes it.

    Raises InvalidRequest, Conflict or BadData where nothing can be certified; then nothing was judged.
    """
    check_eligible(experiment, study, promise_sha256)
    assert experiment.artefact is not None
    assert experiment.quality is not None
    assert promise_frozen_at is not None
    original = uploaded(study, workspace)
    question = Question(
        original=original,
        variant=workspace.artefact(experiment.artefact),
        baseline_runtime=Choice(name=reference_runtime(original.manifest.format)),
        runtime=experiment.spec.runtime,
        threads=study.workload.threads,
        evalset=workspace.evalset_folder(study.eval_set_id),
        signature=study.signature,
        promise=study.promise,
        gate_passed=experiment.quality.agreement.identical,
    )
    report, hashes, notes = judge_question(question, _stored(question, workspace), progress)
    return Certificate(
        id=str(ULID()),
        experiment_id=experiment.id,
        study_id=study.id,
        study_name=study.name,
        created_at=datetime.now(UTC),
        created_by=created_by,
        promise=study.promise,
        promise_sha256=study.promise.fingerprint,
        promise_frozen_at=promise_frozen_at,
        model_id=study.model_id,
        artefact=experiment.artefact,
        recipe=experiment.spec.recipe,
        runtime=experiment.spec.runtime,
        baseline_runtime=question.baseline_runtime,
        threads=question.threads,
        signature=study.signature,
        eval_set_id=study.eval_set_id,
        hashes=hashes,
        seed=SEED,
        environment={**describe(), "confinement": sandbox.held()},
        quality=report,
        comparisons=experiment.comparisons,
        gate_passed=question.gate_passed,
        conformance=experiment.conformance,
        notes=notes,
    )


def check_eligible(experiment: Experiment, study: Study, promise_sha256: str | None) -> None:
    """Raise when this experiment cannot be certified at all, whatever its answers are."""
    if experiment.status != "succeeded" or experiment.artefact is None or experiment.quality is None:
        raise InvalidRequest(
            f"experiment {experiment.id} is {experiment.status}; only a variant that was built and judged on the "
            "selection rows can be certified"
        )
    if experiment.is_baseline:
        raise InvalidRequest("this is the original itself; certify one of its variants")
    if promise_sha256 is None:
        raise Conflict("the promise is not frozen yet; it freezes when the first experiment starts")
    if promise_sha256 != study.promise.fingerprint:
        raise Conflict(
            f"the promise of {study.name!r} is not the one that was frozen (SHA-256 {study.promise.fingerprint[:12]}, "
            f"frozen {promise_sha256[:12]}); make a new study for another promise, this one stays as it is"
        )


def judge_question(
    question: Question, score: Score, progress: Progress
) -> tuple[QualityReport, Hashes, tuple[str, ...]]:
    """The report, the hashes of all that was judged, and notes."""
    split = load_split(question.evalset, "certification")
    if not split.n_rows:
        raise BadData("there are no certification rows; bring more rows, or mark some in the split column")
    marks, notes = check_leakage(question.evalset)
    rows = load_rows(question.evalset, "certification")
    progress(0.05, f"{split.n_rows:,} certification rows, none of them among those that levers saw")
    outputs = []
    for at, (artefact, runtime, who) in enumerate(
        (
            (question.original, question.baseline_runtime, "the original"),
            (question.variant, question.runtime, "the variant"),
        )
    ):
        part = partial(_part, progress, 0.05 + 0.4 * at, 0.4, who)
        outputs.append(score(artefact, runtime, part)[judged_output(question.signature)])
    scoring.require_finite(outputs[0], "the original")
    progress(0.85, "judging")
    rows_sha256, labels_sha256 = _rows_sha256(marks, rows["row"].to_numpy(np.int64)), array_sha256(split.labels)
    report = certify(
        Prediction(outputs[0], rows_sha256, labels_sha256),
        Prediction(outputs[1], rows_sha256, labels_sha256),
        split.labels,
        rows,
        question.signature,
        question.promise.band,
        gate_passed=question.gate_passed,
        columns=lambda: slice_columns(question.evalset, "certification", question.signature),
        seed=SEED,
    )
    hashes = Hashes(
        rows=rows_sha256,
        labels=labels_sha256,
        baseline_outputs=array_sha256(outputs[0]),
        candidate_outputs=array_sha256(outputs[1]),
    )
    left_out = split.n_rows - report.n_rows
    if left_out:
        notes = (*notes, f"{left_out:,} of {split.n_rows:,} certification rows have no label and were not judged")
    return report, hashes, notes


def judged_output(signature: Signature) -> str:
    """Name of the output that is judged."""
    return signature.score_output or signature.outputs[0].name


def _stored(question: Question, workspace: Workspace) -> Score:
    """Answers of the certification rows, computed once and kept."""

    def score(artefact: Artefact, runtime: Choice, progress: Progress) -> dict[str, np.ndarray]:
        return scoring.outputs(
            artefact,
            runtime,
            question.evalset,
            "certification",
            workspace,
            threads=question.threads,
            progress=progress,
        )

    return score


def _rows_sha256(marks: Marks, numbers: np.ndarray) -> str:
    """Of the canonical inputs of every row and its place in the file, in order."""
    return array_sha256(marks.inputs, numbers)


def _part(progress: Progress, start: float, share: float, who: str, fraction: float, text: str) -> None:
    progress(start + share * fraction, f"{who}: {text}")
