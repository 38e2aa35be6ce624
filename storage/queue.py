"""The queue of jobs: claimed one at a time, fenced by attempt, kept alive by leases.

queued → running → succeeded | failed | cancelled | interrupted. Terminal states never change; a retry is a new
experiment. Every write of a running attempt carries its number, so an attempt that was given up cannot write any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.errors import NotFound
from engine.records import Experiment, ExperimentSpec, Failure, Status, Study
from storage import database
from storage.base import bump, opened
from storage.database import now
from storage.experiments import store_result
from storage.job_watch import JobWatch
from storage.schema import experiment, job, job_log
from storage.studies import freeze_promise

Phase = Literal["waiting", "build", "score", "time"]
LOST = "the process that ran it is gone (restart, crash or power loss); Retry runs it again"


@dataclass(frozen=True)
class Claimed:
    """One attempt that the caller now owns until its lease ends."""

    experiment_id: str
    attempt: int
    spec: ExperimentSpec
    study: Study
    created_at: datetime
    created_by: str
    retry_of: str | None
    timeout_s: float | None
    memory_bytes: int | None


class Queue(JobWatch):
    """Claim, keep, end, cancel and (`JobWatch`) watch jobs."""

    # ------------------------------------------------------------ runner
    def has_queued(self, workspace: str | None = None) -> bool:
        """True when `claim` would probably find something; costs no write lock."""
        query = _queued(workspace).limit(1)
        return database.read(self.engine, lambda connection: connection.execute(query).first()) is not None

    def claim(self, runner_id: str, lease_s: float, workspace: str | None = None) -> Claimed | None:
        """Take the next job: highest priority, then oldest; freezes the promise of its study.

        With `workspace`, only jobs whose files lie there.
        """

        def update(connection: Connection) -> Claimed | None:
            chosen = _queued(workspace).limit(1).with_for_update(skip_locked=True).scalar_subquery()
            statement = (
                job.update()
                .where(job.c.experiment_id == chosen, job.c.status == "queued")
                .values(
                    status="running",
                    runner_id=runner_id,
                    attempt=job.c.attempt + 1,
                    started_at=now(connection),
                    lease_until=now(connection, lease_s),
                )
                .returning(job)
            )
            taken = connection.execute(statement).first()
            return _claimed(connection, taken) if taken else None

        return database.write(self.engine, update)

    def touch(
        self,
        experiment_id: str,
        attempt: int,
        lease_s: float,
        *,
        phase: Phase | None = None,
        progress: float | None = None,
        message: str | None = None,
        log_lines: Iterable[str] = (),
    ) -> bool | None:
        """Renew the lease, report, and hear whether to stop: True cancel, False go on, None the attempt is not ours."""
        report = {"phase": phase, "progress": progress, "message": message}
        values = {name: value for name, value in report.items() if value is not None}

        def update(connection: Connection) -> bool | None:
            statement = _running(experiment_id, attempt).values(lease_until=now(connection, lease_s), **values)
            row = connection.execute(statement.returning(job.c.cancel_requested)).first()
            if row is None:
                return None
            _append(connection, experiment_id, log_lines)
            return bool(row.cancel_requested)

        return database.write(self.engine, update)

    def finish(
        self,
        experiment_id: str,
        attempt: int,
        status: Status,
        *,
        experiment_record: Experiment | None = None,
        failure: Failure | None = None,
        log_lines: Iterable[str] = (),
    ) -> bool:
        """End an attempt, with its record if it has one; False when it is no longer ours and nothing was written."""

        def update(connection: Connection) -> bool:
            document = failure.model_dump(mode="json") if failure else None
            values: dict[str, Any] = {
                "status": status,
                "finished_at": now(connection),
                "failure": document,
                "phase": None,
            }
            if status == "succeeded":
                values |= {"progress": 1.0, "message": ""}
            if connection.execute(_running(experiment_id, attempt).values(**values)).rowcount == 0:
                return False
            _append(connection, experiment_id, log_lines)
            if experiment_record is not None:
                store_result(connection, experiment_record)
            bump(connection)
            return True

        return database.write(self.engine, update)

    def reap(self, spare: Collection[str] = ()) -> int:
        """End the attempts whose lease ran out, but not the experiments in `spare`: the caller knows they live.

        (A laptop that slept finds every lease expired when it wakes.) Returns how many.
        """

        def update(connection: Connection) -> int:
            expired = (job.c.lease_until < now(connection)) & job.c.experiment_id.not_in(list(spare))
            return _interrupt(connection, expired)

        return database.write(self.engine, update)

    def interrupt_own(self, owner: str) -> int:
        """End at once what earlier runners of this owner left running; `runner_id` is "<owner>:…". Returns how many."""
        left = job.c.runner_id.startswith(f"{owner}:", autoescape=True)
        return database.write(self.engine, lambda connection: _interrupt(connection, left))

    # ------------------------------------------------------------ user
    def cancel(self, experiment_id: str) -> Status:
        """Cancel: at once while queued, as soon as its supervisor hears of it while running. Returns the status now.

        What has ended stays as it ended. Raises NotFound.
        """

        def update(connection: Connection) -> Status:
            mine = job.c.experiment_id == experiment_id
            failure = Failure(reason="cancelled", message="cancelled before it started").model_dump(mode="json")
            ended = {"status": "cancelled", "finished_at": now(connection), "failure": failure}
            if connection.execute(job.update().where(mine, job.c.status == "queued").values(**ended)).rowcount:
                bump(connection)
                return "cancelled"
            connection.execute(job.update().where(mine, job.c.status == "running").values(cancel_requested=True))
            status: Status | None = connection.execute(sa.select(job.c.status).where(mine)).scalar_one_or_none()
            if status is None:
                raise NotFound(f"there is no experiment {experiment_id!r}")
            return status

        return database.write(self.engine, update)


def _queued(workspace: str | None) -> sa.Select[tuple[str]]:
    query = sa.select(job.c.experiment_id).where(job.c.status == "queued")
    if workspace is not None:
        query = query.where(job.c.workspace == workspace)
    return query.order_by(job.c.priority.desc(), job.c.created_at, job.c.experiment_id)


def _running(experiment_id: str, attempt: int) -> sa.Update:
    """The fence: only the current attempt, and only while it runs."""
    return job.update().where(job.c.experiment_id == experiment_id, job.c.attempt == attempt, job.c.status == "running")


def _claimed(connection: Connection, taken: Any) -> Claimed:
    asked = connection.execute(sa.select(experiment).where(experiment.c.id == taken.experiment_id)).one()
    return Claimed(
        experiment_id=taken.experiment_id,
        attempt=taken.attempt,
        spec=opened(ExperimentSpec, asked.spec),
        study=freeze_promise(connection, asked.study_id),
        created_at=asked.created_at,
        created_by=asked.created_by,
        retry_of=asked.retry_of,
        timeout_s=taken.timeout_s,
        memory_bytes=taken.memory_bytes,
    )


def _interrupt(connection: Connection, which: sa.ColumnElement[bool]) -> int:
    """End running attempts nobody serves: cancelled where somebody had asked for it, else interrupted."""
    ended = 0
    cases: tuple[tuple[Status, bool, Failure], ...] = (
        ("cancelled", True, Failure(reason="cancelled", message="cancelled")),
        ("interrupted", False, Failure(reason="interrupted", message=LOST)),
    )
    for status, asked, failure in cases:
        values = {"status": status, "finished_at": now(connection), "failure": failure.model_dump(), "phase": None}
        mine = (job.c.status == "running") & (job.c.cancel_requested == sa.literal(asked)) & which
        ended += connection.execute(job.update().where(mine).values(**values)).rowcount
    if ended:
        bump(connection)
    return ended


def _append(connection: Connection, experiment_id: str, lines: Iterable[str]) -> None:
    moment = now(connection)
    rows = [{"experiment_id": experiment_id, "line": line} for line in lines]
    if rows:
        connection.execute(job_log.insert().values(written_at=moment), rows)
