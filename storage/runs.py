"""From rows of `experiment` and `job` to records: what was asked lies in one, how it went in the other."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from engine.records import Experiment, ExperimentSpec, Failure
from storage.base import opened
from storage.schema import experiment, job

MOVING = (job.c.status, job.c.attempt, job.c.failure, job.c.started_at, job.c.finished_at)


def records() -> sa.Select[Any]:
    """Rows for `record`. Documents stay text: pydantic reads it faster than Python makes a tree to throw away."""
    columns = (experiment.c[name] for name in ("id", "created_at", "created_by", "retry_of"))
    return sa.select(*columns, as_text(experiment.c.document), as_text(experiment.c.spec), *MOVING).join(
        job, job.c.experiment_id == experiment.c.id
    )


def record(row: Any) -> Experiment:
    """The stored record, or what is known without one; the job has the last word on how it stands."""
    if row.document is not None:
        found = opened(Experiment, row.document)
        return found if found.status == row.status else found.model_copy(update={"status": row.status})
    return Experiment(
        id=row.id,
        spec=opened(ExperimentSpec, row.spec),
        status=row.status,
        created_at=row.created_at,
        created_by=row.created_by,
        retry_of=row.retry_of,
        **moved(row),
    )


def moved(row: Any) -> dict[str, Any]:
    """How the job went, for a run without a record of its own."""
    ended = row.started_at is not None and row.finished_at is not None
    return {
        "attempt": row.attempt,
        "duration_s": (row.finished_at - row.started_at).total_seconds() if ended else None,
        "error": opened(Failure, row.failure) if row.failure else None,
    }


def as_text(column: sa.Column[Any]) -> sa.Label[str]:
    """A document as it is stored."""
    return sa.type_coerce(column, sa.Text).label(column.name)
