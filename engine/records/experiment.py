"""Experiments: what was asked, what came out, and how it stands in the queue."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from engine.records.base import Record
from engine.records.conformance import Conformance
from engine.records.models import Choice, Manifest, Recipe
from engine.records.operators import OperatorProfile
from engine.records.quality import QualityReport
from engine.records.results import Comparison, Measurement
from engine.records.study import Workload
from engine.records.words import Preset, Status


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
    environment: dict[str, Any] = Field(default_factory=dict)
    device: str = "cpu"
    artefact: Manifest | None = None
    chain: tuple[Manifest, ...] = Field((), description="The artefact after each step, in order.")
    measurements: tuple[Measurement, ...] = Field((), description="The variant, one per workload.")
    baselines: tuple[Measurement, ...] = Field((), description="The original, timed in the same pairs.")
    auto_batch_size: int | None = Field(
        None, description="Baseline only: smallest power of two up to 128 within 5 % of the best items/s."
    )
    comparisons: tuple[Comparison, ...] = ()
    operators: OperatorProfile | None = None
    compressed_bytes: int | None = Field(None, description="The payload after zstd: what travels to a replica.")
    quality: QualityReport | None = None
    conformance: tuple[Conformance, ...] = Field((), description="Trees: conversions and runtime, asked at the edges.")
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
