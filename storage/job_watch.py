"""See how the jobs stand and what they printed. Reads only: polling them costs nobody anything."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from engine.errors import NotFound
from engine.records import Failure, JobState
from storage import database
from storage.base import opened
from storage.schema import experiment, job, job_log


@dataclass(frozen=True)
class LogLine:
    """One line an attempt printed. Ids grow, so the last one read says where to go on."""

    id: int
    written_at: datetime
    line: str


class JobWatch:
    """The reading half of the queue."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def state(self, experiment_id: str) -> JobState:
        """How one experiment stands. Raises NotFound."""
        query = sa.select(job).where(job.c.experiment_id == experiment_id)
        row = database.read(self.engine, lambda connection: connection.execute(query).first())
        if row is None:
            raise NotFound(f"there is no experiment {experiment_id!r}")
        return _state(row)

    def states(self, study_id: str | None = None, active_only: bool = False) -> list[JobState]:
        """How the experiments stand, in order of asking; `active_only`: those queued or running."""
        query = sa.select(job).order_by(job.c.created_at, job.c.experiment_id)
        if study_id is not None:
            # not a join: that would begin with all experiments of the study, however few are active
            mine = (experiment.c.id == job.c.experiment_id) & (experiment.c.study_id == study_id)
            query = query.where(sa.exists().where(mine))
        if active_only:
            query = query.where(job.c.status.in_(("queued", "running")))
        return [_state(row) for row in database.read(self.engine, lambda connection: connection.execute(query).all())]

    def log(self, experiment_id: str, after_id: int = 0, limit: int = 500) -> list[LogLine]:
        """Lines after the one with `after_id`, oldest first."""
        mine = (job_log.c.experiment_id == experiment_id) & (job_log.c.id > after_id)
        return self._lines(sa.select(job_log).where(mine).order_by(job_log.c.id).limit(limit))

    def log_tail(self, experiment_id: str, n: int = 50) -> list[LogLine]:
        """The last `n` lines, oldest first."""
        mine = job_log.c.experiment_id == experiment_id
        return self._lines(sa.select(job_log).where(mine).order_by(job_log.c.id.desc()).limit(n))[::-1]

    def _lines(self, query: sa.Select[Any]) -> list[LogLine]:
        rows = database.read(self.engine, lambda connection: connection.execute(query).all())
        return [LogLine(row.id, row.written_at, row.line) for row in rows]


def _state(row: Any) -> JobState:
    return JobState(
        experiment_id=row.experiment_id,
        status=row.status,
        phase=row.phase,
        progress=row.progress,
        message=row.message,
        attempt=row.attempt,
        cancel_requested=row.cancel_requested,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        failure=opened(Failure, row.failure) if row.failure else None,
    )
