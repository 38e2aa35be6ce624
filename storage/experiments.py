"""Experiments of the history: asked for and read back whole. Lists read `storage.summary`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError
from ulid import ULID

from engine.errors import Conflict
from engine.records import Experiment, ExperimentSpec, Status
from storage.base import Store, bump, find_id
from storage.runs import record, records
from storage.schema import experiment, job, study
from storage.summary import stored_summary

_ACTIVE = ("queued", "running")


class Experiments(Store):
    """What was asked lies in `experiment`, how it goes in `job`; both are born in one transaction."""

    def add_experiment(
        self,
        spec: ExperimentSpec,
        created_by: str,
        *,
        priority: int = 0,
        retry_of: str | None = None,
        timeout_s: float | None = None,
        memory_bytes: int | None = None,
    ) -> str:
        """Queue an experiment and return its id; the same question still queued or running is returned instead.

        Raises NotFound when the study is not here.
        """
        limits = {"priority": priority, "timeout_s": timeout_s, "memory_bytes": memory_bytes}

        def insert(connection: Connection) -> str:
            study_id = find_id(connection, study.c.id, spec.study_id, "study")
            asked = spec if study_id == spec.study_id else spec.model_copy(update={"study_id": study_id})
            known = self._active(connection, asked)
            if known:
                return known
            origin = find_id(connection, experiment.c.id, retry_of, "experiment") if retry_of else None
            run = Experiment(
                id=str(ULID()),
                spec=asked,
                status="queued",
                created_at=datetime.now(UTC),
                created_by=created_by,
                retry_of=origin,
            )
            store_question(connection, run, self.workspace, **limits)
            bump(connection)
            return run.id

        for _ in range(5):
            try:
                return self._write(insert)
            except IntegrityError:  # the other click of a double click was faster
                continue
        raise Conflict("the same experiment is being started again and again; look at the study and try once more")

    def retry_experiment(self, ref: str, created_by: str) -> str:
        """Queue the same question again as a new experiment with the same limits; returns its id.

        Raises Conflict while the old one is queued or running, NotFound.
        """
        old = self.experiment(ref)
        if old.status in _ACTIVE:
            raise Conflict(f"experiment {old.id} is {old.status}; cancel it before you run it again")
        query = sa.select(job.c.priority, job.c.timeout_s, job.c.memory_bytes).where(job.c.experiment_id == old.id)
        limits = self._read(lambda connection: connection.execute(query).one())
        return self.add_experiment(old.spec, created_by, retry_of=old.id, **limits._asdict())

    def experiment(self, ref: str) -> Experiment:
        """The experiment of this id or unique beginning of it, as it stands now. Raises NotFound, Conflict."""

        def select(connection: Connection) -> Any:
            key = find_id(connection, experiment.c.id, ref, "experiment")
            return connection.execute(records().where(experiment.c.id == key)).one()

        return record(self._read(select))

    def experiments(
        self,
        study_id: str | None = None,
        statuses: Iterable[Status] | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[Experiment]:
        """Whole records in order of asking. For long lists see `summaries`."""
        order = (experiment.c.created_at, experiment.c.id)
        query = records().order_by(*(column.desc() for column in order) if newest_first else order).limit(limit)
        if study_id is not None:
            query = query.where(experiment.c.study_id == study_id)
        if statuses is not None:
            query = query.where(job.c.status.in_(list(statuses)))
        return [record(row) for row in self._read(lambda connection: connection.execute(query).all())]

    def _active(self, connection: Connection, spec: ExperimentSpec) -> str | None:
        query = sa.select(job.c.experiment_id).where(
            job.c.workspace == self.workspace,
            job.c.spec_fingerprint == spec.fingerprint,
            job.c.status.in_(_ACTIVE),
        )
        return connection.execute(query).scalar_one_or_none()


def store_question(connection: Connection, run: Experiment, workspace: str, **limits: Any) -> None:
    """Write what is asked, and the job that waits to answer it, in the transaction of the caller."""
    connection.execute(
        experiment.insert().values(
            id=run.id,
            study_id=run.spec.study_id,
            spec=run.spec.model_dump(mode="json"),
            created_at=run.created_at,
            created_by=run.created_by,
            retry_of=run.retry_of,
            summary=stored_summary(run),
        )
    )
    keys = {"experiment_id": run.id, "spec_fingerprint": run.spec_fingerprint, "workspace": workspace}
    connection.execute(job.insert().values(status="queued", created_at=run.created_at, **keys, **limits))


def store_result(connection: Connection, run: Experiment) -> None:
    """Write the record and the summary of a finished run, in the transaction that ends its job."""
    values = {"document": run.model_dump(mode="json"), "summary": stored_summary(run)}
    connection.execute(experiment.update().where(experiment.c.id == run.id).values(**values))
