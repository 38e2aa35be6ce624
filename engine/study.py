"""A model and an evaluation set become a study: bound, output confirmed, promise written down. No database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from pydantic import Field
from ulid import ULID

from engine import sandbox, scoring
from engine.data.choices import DataChoices
from engine.data.output import propose_output
from engine.data.stored import load_info
from engine.errors import InvalidRequest
from engine.first_look import FirstLook, first_look
from engine.plugin import reference_runtime
from engine.quality.capability import MANY_ROWS, capability
from engine.quality.metrics import MEDIAN, auto_metric, check_fits, is_relative
from engine.records import (
    Band,
    Choice,
    EvalSetInfo,
    Goal,
    Manifest,
    Metric,
    Promise,
    Record,
    Signature,
    Study,
    StudySource,
    Workload,
)
from engine.workspace import Workspace

FIRST_ROWS = 256


class Terms(Record):
    """What the promise is made of, before the metric is known."""

    goal: Goal = Goal()
    metric: Metric | Literal["auto"] = "auto"
    max_drop: float = Field(0.01, ge=0.0, le=1.0)
    slice_max_drop: float = Field(0.02, ge=0.0, le=1.0)
    slices: tuple[str, ...] | None = Field(None, description="Slice columns that are judged; None: all there are.")
    require_all_slices: bool = False
    tau: float | None = Field(None, gt=0.0, lt=1.0, description="The quantile of the pinball loss; None: 0.5.")
    n_certificates: int = Field(3, ge=1, le=20, description="How often variants may be judged on certification rows.")


class StudyRequest(Record):
    """Everything a person decides when a study is made."""

    name: str = Field(min_length=1, max_length=200)
    model_id: str
    table_id: str | None = Field(None, description="None: the evaluation set is bound already.")
    data_name: str = ""
    train_table_id: str | None = None
    train_name: str = ""
    choices: DataChoices = DataChoices()
    terms: Terms = Terms()
    workload: Workload = Workload()
    price_per_hour: float | None = Field(None, gt=0)
    currency: str = Field("USD", min_length=1, max_length=8)
    created_by: str = "local"
    seed: int = 0


class Bound(Record):
    """What binding data to a model gave: the stored evaluation set, and the signature with nothing left open."""

    info: EvalSetInfo
    signature: Signature
    first_look: FirstLook | None = None


def create(request: StudyRequest, workspace: Workspace, bound: Bound | None = None) -> tuple[Study, EvalSetInfo]:
    """Bind the data to the model's inputs, run the first rows, confirm the output and write the promise.

    bound: what `bind` gave for this request, where that is known already. Raises BadData, Mismatch, BadModel or
    InvalidRequest with a sentence; then nothing of the study is stored.
    """
    found = bound or bind(request, workspace)
    info, signature = found.info, found.signature
    if signature.fixed_batch and request.workload.batch_size != signature.fixed_batch:
        raise InvalidRequest(
            f"the model's batch is fixed at {signature.fixed_batch}; "
            f"a primary batch of {request.workload.batch_size} cannot be run"
        )
    made = promise(request.terms, signature, info)
    study = Study(
        id=str(ULID()),
        name=request.name,
        model_id=request.model_id,
        eval_set_id=info.id,
        signature=signature,
        promise=made,
        workload=request.workload,
        price_per_hour=request.price_per_hour,
        currency=request.currency,
        created_at=datetime.now(UTC),
        created_by=request.created_by,
        source=_source(request),
    )
    return study, info.model_copy(update={"notes": (*info.notes, *_band_note(made.band, info))})


def bind(request: StudyRequest, workspace: Workspace) -> Bound:
    """Match the columns to the model's inputs, split the rows, run the first ones and settle what the output means.

    Raises BadData, Mismatch, BadModel or InvalidRequest.
    """
    manifest = workspace.load_manifest(f"upload-{request.model_id}")
    if manifest is None:
        raise InvalidRequest(f"no model {request.model_id[:12]!r} is stored here; bring it first")
    eval_set_id, info, signature = _bind(request, manifest, workspace)
    evalset = workspace.evalset_folder(eval_set_id)
    first = scoring.outputs(
        workspace.artefact(manifest),
        Choice(name=reference_runtime(manifest.format)),
        evalset,
        "selection",
        workspace,
        threads=1,
        n_rows=FIRST_ROWS,
    )
    for name, values in first.items():
        scoring.require_finite(values, f"output {name!r} of the model")
    signature = propose_output(signature, dict(first), request.choices)
    info = info.model_copy(update={"id": eval_set_id})
    return Bound(info=info, signature=signature, first_look=first_look(evalset, dict(first), signature))


def bound_before(study: Study, workspace: Workspace) -> Bound:
    """What an earlier study was bound to, for another one on the same rows. Raises NotFound."""
    return Bound(info=load_info(workspace.evalset_folder(study.eval_set_id)), signature=study.signature)


def promise(terms: Terms, signature: Signature, info: EvalSetInfo) -> Promise:
    """The promise that the terms make for this task; drops are relative where the metric has no fixed range."""
    assert signature.task is not None
    labelled = info.n_unlabelled < info.n_rows
    metric = auto_metric(signature.task, labelled=labelled) if terms.metric == "auto" else terms.metric
    if metric is not None:
        check_fits(metric, signature.task)
    band = Band(
        metric=metric,
        max_drop=terms.max_drop,
        slice_max_drop=terms.slice_max_drop,
        relative=is_relative(metric),
        slices=_slices(terms, info),
        require_all_slices=terms.require_all_slices,
        tau=_tau(terms, metric),
        n_certificates=terms.n_certificates,
    )
    return Promise(goal=terms.goal, band=band)


def _slices(terms: Terms, info: EvalSetInfo) -> tuple[str, ...]:
    """The slice columns that are judged. Raises InvalidRequest for one that the evaluation set does not have."""
    known = tuple(dict.fromkeys(part.column for part in info.slices))
    if terms.slices is None:
        return known
    strange = [name for name in terms.slices if name not in known]
    if strange:
        raise InvalidRequest(
            f"the slice column {strange[0]!r} is not in the evaluation set; it has {', '.join(known) or 'none'}"
        )
    return tuple(name for name in known if name in terms.slices)


def _band_note(band: Band, info: EvalSetInfo) -> list[str]:
    """For a small evaluation set: what its certification rows can and cannot show about the band."""
    if info.n_rows >= MANY_ROWS or band.metric is None:
        return []
    return [capability(info.splits.get("certification", 0), band)]


def _source(request: StudyRequest) -> StudySource | None:
    if request.table_id is None:
        return None
    return StudySource(
        table_id=request.table_id,
        data_name=request.data_name,
        train_table_id=request.train_table_id,
        train_name=request.train_name,
        choices=request.choices.model_dump(mode="json", exclude_defaults=True),
    )


def _tau(terms: Terms, metric: Metric | None) -> float | None:
    """The quantile where the metric has one. Raises InvalidRequest for a quantile of any other metric."""
    if metric == "pinball":
        return terms.tau or MEDIAN
    if terms.tau is not None:
        raise InvalidRequest(
            f"tau = {terms.tau:g} is the quantile of the pinball loss; the metric is {metric or 'none'}"
        )
    return None


def _bind(request: StudyRequest, manifest: Manifest, workspace: Workspace) -> tuple[str, EvalSetInfo, Signature]:
    if request.table_id is None:
        raise InvalidRequest("no data file is named; bring the evaluation rows first")
    table = workspace.table_folder(request.table_id)
    extra = workspace.table_folder(request.train_table_id) if request.train_table_id else None
    with workspace.draft() as draft:
        out = draft / "evalset"
        out.mkdir()
        answer = sandbox.run(
            "engine.data.bind:bind",
            {
                "table": str(table),
                "train_table": str(extra) if extra else None,
                "signature": manifest.signature.model_dump(mode="json"),
                "choices": request.choices.model_dump(mode="json"),
                "seed": request.seed,
                "out": str(out),
            },
            read=[table, *([extra] if extra else [])],
            write=draft,
        )
        eval_set_id = workspace.add_evalset(out)
    return eval_set_id, EvalSetInfo.model_validate(answer["info"]), Signature.model_validate(answer["signature"])
