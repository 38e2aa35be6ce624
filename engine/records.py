"""The nouns of the project: frozen, JSON-safe, free of heavy imports. Read this file first."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Task = Literal["binary", "multiclass", "regression", "ranking", "embedding", "other"]
OutputKind = Literal["logits", "probabilities", "value", "raw score", "embedding"]
Role = Literal["feature", "label", "slice", "group", "id", "weight", "split", "ignored"]
SplitName = Literal["train", "calibration", "selection", "certification"]
Metric = Literal["roc_auc", "accuracy", "rmse", "ndcg_at_10", "retrieval_agreement"]
Preset = Literal["quick", "standard", "strict"]
Status = Literal["queued", "running", "succeeded", "failed", "cancelled", "interrupted"]
SpeedVerdict = Literal["faster", "slower", "no difference", "cannot tell"]
QualityVerdict = Literal[
    "within band", "outside", "too few rows", "exact", "pass", "fail", "not certified", "not judged"
]

TERMINAL: frozenset[str] = frozenset({"succeeded", "failed", "cancelled", "interrupted"})


class Record(BaseModel):
    """Base of every noun: immutable, refuses unknown fields, hashes its own content."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def fingerprint(self) -> str:
        """64 hex digits that change whenever any field changes."""
        body = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(body.encode()).hexdigest()


# ---------------------------------------------------------------- models
class TensorSpec(Record):
    """One input or output of a model."""

    name: str
    dtype: str = Field(description="numpy name: float32, int64, ... or 'string'.")
    shape: tuple[int | str, ...] = Field(description="Batch axis first; ints are fixed axes, text is symbolic.")
    columns: tuple[str, ...] | None = Field(None, description="Feature names behind a rank-2 input, in order.")
    categories: dict[str, tuple[str, ...]] | None = Field(
        None, description="Category list per column; code = position in the list."
    )


class Signature(Record):
    """What goes in, what comes out, and which output is judged."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    task: Task | None = None
    classes: tuple[str, ...] | None = Field(None, description="Class names in the order of the score columns.")
    score_output: str | None = None
    output_kind: OutputKind | None = None

    @property
    def fixed_batch(self) -> int | None:
        """The only batch size the model takes, or None when its batch axis is free."""
        sizes = [spec.shape[0] for spec in self.inputs if spec.shape]
        return next((size for size in sizes if isinstance(size, int)), None)


class Step(Record):
    """One lever and its parameters, by name: readable even after the lever is gone."""

    lever: str
    params: dict[str, Any] = {}


class Recipe(Record):
    """A chain of levers, applied in order. Empty: the original."""

    steps: tuple[Step, ...] = ()


class Choice(Record):
    """A plug-in chosen by name, for example a runtime."""

    name: str
    params: dict[str, Any] = {}


class Manifest(Record):
    """What is known about one model on disk. Says nothing about where it lies."""

    id: str = Field(description="SHA-256 of the canonical listing of the payload files.")
    format: str
    signature: Signature
    size_bytes: int
    n_parameters: int | None = Field(None, description="Trained numbers of a net; None where not meaningful.")
    n_trees: int | None = None
    versions: dict[str, str] = Field({}, description="opset, producer, library: what the file says of itself.")
    warnings: tuple[str, ...] = ()
    notes: dict[str, Any] = Field({}, description="What the lever that wrote it wants shown.")
    parent_id: str | None = None
    step: Step | None = None


# ---------------------------------------------------------------- evaluation sets
class SliceInfo(Record):
    """One value of one slice column and its rows."""

    column: str
    value: str
    n_rows: int


class EvalSetInfo(Record):
    """An evaluation set bound to a model's inputs, split and stored. `id` is the digest of its content."""

    id: str
    n_rows: int = Field(description="Rows of the file, unlabelled ones included.")
    n_unlabelled: int = 0
    roles: dict[str, Role]
    task: Task
    classes: tuple[str, ...] | None = None
    splits: dict[SplitName, int] = Field(description="Rows per split.")
    slices: tuple[SliceInfo, ...] = ()
    reading: dict[str, str] = Field({}, description="How the file was read: encoding, separator, format.")
    notes: tuple[str, ...] = Field((), description="Casts done, rows left out, columns ignored.")


# ---------------------------------------------------------------- the promise
class Goal(Record):
    """How much better it has to become: met when the lower bound of the speed-up clears the factor."""

    kind: Literal["p50", "p99", "cost"] = "p50"
    factor: float = Field(3.0, gt=1.0, le=1000.0)


class Band(Record):
    """How much quality may be lost. Drops are oriented: positive is worse."""

    metric: Metric | None = Field(description="None: no label, agreement and timing only.")
    max_drop: float = Field(0.01, ge=0.0, le=1.0)
    slice_max_drop: float = Field(0.02, ge=0.0, le=1.0)
    relative: bool = Field(False, description="Drops are shares of the baseline instead of absolute.")
    slices: tuple[str, ...] = Field((), description="Slice columns that are judged.")
    alpha: float = Field(0.05, gt=0.0, lt=0.5)
    n_certificates: int = Field(3, ge=1, le=20)
    require_all_slices: bool = False


class Promise(Record):
    """Set in advance, hashed, frozen when the first experiment starts."""

    goal: Goal = Goal()
    band: Band


# ---------------------------------------------------------------- what is asked
class Workload(Record):
    """What is asked of the model in one call."""

    batch_size: int = Field(1, ge=1, le=65536, description="Items per call.")
    threads: int = Field(1, ge=1, le=256, description="Threads of one serving process.")


class Study(Record):
    """A model, an evaluation set and a promise; experiments belong to it."""

    id: str
    name: str = Field(min_length=1, max_length=200)
    model_id: str
    eval_set_id: str
    signature: Signature = Field(description="The model's signature with task, classes and output kind confirmed.")
    promise: Promise
    workload: Workload = Field(Workload(), description="The primary batch and the threads of one replica.")
    price_per_hour: float | None = Field(None, gt=0)
    currency: str = Field("USD", min_length=1, max_length=8)
    created_at: datetime
    created_by: str = "local"


# ---------------------------------------------------------------- results
class FileRef(Record):
    """A file of the workspace, by content."""

    path: str
    sha256: str
    size_bytes: int


class Interval(Record):
    """A value with a 95 % interval; a bound is None where the samples cannot give it."""

    value: float
    low: float | None = None
    high: float | None = None


class Measurement(Record):
    """One arm of one workload, timed beside the other arm. Percentiles are None below their sample floor."""

    artefact_id: str
    runtime: Choice
    workload: Workload
    samples: FileRef
    n_calls: int
    n_pairs: int
    n_warm_up: int = Field(0, description="Calls of each process before the timed ones; not in any figure.")
    p50_ms: Interval
    p95_ms: Interval | None
    p99_ms: Interval | None
    items_per_s: float
    cold_start_ms: float = Field(description="The first call of a fresh process.")
    load_ms: float
    peak_bytes: int
    prepare_ms: float = Field(description="Median time to make the arrays of one call.")
    model_ms: float
    post_ms: float = Field(description="Median time to turn outputs into scores.")
    flags: tuple[str, ...] = Field((), description="Why the figures may be contaminated.")


class Comparison(Record):
    """Variant / baseline of the same pairs: below 1 is faster."""

    workload: Workload
    quantile: float | None = Field(description="0.5, 0.95 or 0.99; None: the mean call, which cost follows.")
    ratio: float
    low: float
    high: float
    verdict: SpeedVerdict
    n_pairs: int
    pairs_needed: int | None = Field(None, description="With 'cannot tell': pairs that would probably decide.")


class SliceQuality(Record):
    """The metric on one slice. Missing values carry a reason."""

    column: str
    value: str
    n_rows: int
    baseline: float | None
    candidate: float | None
    drop: float | None
    bound: float | None = Field(None, description="One-sided upper bound of the drop.")
    verdict: QualityVerdict
    reason: str | None = None


class Agreement(Record):
    """How far the candidate's outputs are from the original's, on the same rows; needs no label."""

    flip_fraction: float | None = Field(None, description="Rows whose most likely class changed.")
    max_abs_diff: float | None = Field(description="None where no row has a finite answer.")
    p99_abs_diff: float | None
    mean_kl_nats: float | None = None
    max_kl_nats: float | None = None
    identical: bool


class QualityReport(Record):
    """Quality of one candidate against the original, same rows, same order."""

    split: SplitName
    metric: Metric | None
    relative: bool
    baseline: float | None
    candidate: float | None
    drop: float | None
    bound: float | None
    verdict: QualityVerdict
    reason: str | None = None
    slices: tuple[SliceQuality, ...] = ()
    agreement: Agreement
    n_rows: int


class ExperimentSpec(Record):
    """Everything needed to do it again."""

    study_id: str
    recipe: Recipe = Recipe()
    runtime: Choice
    workloads: tuple[Workload, ...]
    preset: Preset = "standard"
    seed: int = 0


class Failure(Record):
    """Why an experiment did not succeed, in one sentence."""

    reason: Literal["error", "signal", "timeout", "memory", "cancelled", "interrupted"]
    message: str


class Experiment(Record):
    """One run: what was asked, what came out, where and when."""

    id: str = Field(description="ULID: sorts by time.")
    spec: ExperimentSpec
    status: Status
    created_at: datetime
    created_by: str = "local"
    attempt: int = 0
    duration_s: float | None = None
    environment: dict[str, Any] = {}
    device: str = "cpu"
    artefact: Manifest | None = None
    chain: tuple[Manifest, ...] = Field((), description="The artefact after each step, in order.")
    measurements: tuple[Measurement, ...] = Field((), description="The variant, one per workload.")
    baselines: tuple[Measurement, ...] = Field((), description="The original, timed in the same pairs.")
    auto_batch_size: int | None = Field(
        None, description="Baseline only: smallest power of two up to 128 within 5 % of the best items/s."
    )
    comparisons: tuple[Comparison, ...] = ()
    quality: QualityReport | None = None
    error: Failure | None = None
    retry_of: str | None = None

    @property
    def spec_fingerprint(self) -> str:
        """Equal for two experiments that ask the same."""
        return self.spec.fingerprint

    @property
    def is_baseline(self) -> bool:
        """True for the original on its reference runtime: empty recipe and every arm the same."""
        return not self.spec.recipe.steps and not self.comparisons


class Annotation(Record):
    """Mutable things live apart from the record."""

    experiment_id: str
    tags: tuple[str, ...] = ()
    note: str = ""
    archived: bool = False
    who: str = "local"
    when: datetime


class JobState(Record):
    """What a page shows of one experiment in the queue."""

    experiment_id: str
    status: Status
    phase: Literal["waiting", "build", "score", "time"] | None = None
    progress: float | None = Field(None, ge=0.0, le=1.0)
    message: str = ""
    attempt: int = 0
    cancel_requested: bool = False
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    failure: Failure | None = None
