"""Studies: a model, an evaluation set, a promise made in advance, and what is asked of a call."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from engine.records.base import Record
from engine.records.models import Signature
from engine.records.source import StudySource
from engine.records.words import Metric


class Goal(Record):
    """How much better it has to become: met when the lower bound of the speed-up clears the factor."""

    kind: Literal["p50", "p99", "cost"] = "p50"
    factor: float = Field(3.0, gt=1.0, le=1000.0)


class Band(Record):
    """How much quality may be lost. Drops are oriented: positive is worse."""

    metric: Metric | None = Field(description="None: no label, agreement and timing only.")
    max_drop: float = Field(0.01, ge=0.0, le=1.0)
    slice_max_drop: float = Field(0.02, ge=0.0, le=1.0)
    tau: float | None = Field(None, gt=0.0, lt=1.0, description="The quantile of the pinball loss; None: 0.5.")
    relative: bool = Field(False, description="Drops are shares of the baseline instead of absolute.")
    slices: tuple[str, ...] = Field((), description="Slice columns that are judged.")
    alpha: float = Field(0.05, gt=0.0, lt=0.5)
    n_certificates: int = Field(3, ge=1, le=20)
    require_all_slices: bool = False


class Promise(Record):
    """Set in advance, hashed, frozen when the first experiment starts."""

    goal: Goal = Goal()
    band: Band


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
    source: StudySource | None = Field(None, description="None: made before sources were remembered.")


class StudyAnnotation(Record):
    """What people add to a study afterwards; it lives apart from the record and never touches the promise."""

    study_id: str
    request_ms: float | None = Field(None, gt=0, description="How long a whole request takes that calls the model.")
    tags: tuple[str, ...] = ()
    note: str = ""
    who: str = "local"
    when: datetime
