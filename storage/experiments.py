"""Experiments of the history: asked for, read back, listed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError
from ulid import ULID

from engine.errors import Conflict
from engine.records import Experiment, ExperimentSpec, Failure, Status, Study, Workload
from storage.base import Store, bump, find_id, opened
from storage.schema import annotation, experiment, job, study
from storage.summary import summarise

_ACTIVE = ("queued", "running")
_MOVING = (job.c.status, job.c.attempt, job.c.failure, job.c.started_at, job.c.finished_at)


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
            workload = _workload(connection, study_id)
            return self._insert(connection, asked, created_by, origin, workload, limits)

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
            return connection.execute(_records().where(experiment.c.id == key)).one()

        return _record(self._read(select))

    def experiments(
        self,
        study_id: str | None = None,
        statuses: Iterable[Status] | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[Experiment]:
        """Whole records in order of asking. For long lists see `summaries`."""
        order = (experiment.c.created_at, experiment.c.id)
        query = _records().order_by(*(column.desc() for column in order) if newest_first else order).limit(limit)
        if study_id is not None:
            query = query.where(experiment.c.study_id == study_id)
        if statuses is not None:
            query = query.where(job.c.status.in_(list(statuses)))
        return [_record(row) for row in self._read(lambda connection: connection.execute(query).all())]

    def summaries(self, study_id: str | None = None) -> list[dict[str, Any]]:
        """One light row per experiment, newest first, without reading the records.

        Keys: experiment_id, study_id, status, created_at, created_by, attempt, retry_of, duration_s, reason, tags,
        note, archived, and those of `storage.summary.summarise`.
        """
        query = (
            sa.select(
                experiment.c.id,
                experiment.c.study_id,
                experiment.c.created_at,
                experiment.c.created_by,
                experiment.c.retry_of,
                experiment.c.summary,
                annotation.c.document.label("annotation"),
                *_MOVING,
            )
            .join(job)
            .outerjoin(annotation, annotation.c.experiment_id == experiment.c.id)
            .order_by(experiment.c.created_at.desc(), experiment.c.id.desc())
        )
        if study_id is not None:
            query = query.where(experiment.c.study_id == study_id)
        return [_light(row) for row in self._read(lambda connection: connection.execute(query).all())]

    def _active(self, connection: Connection, spec: ExperimentSpec) -> str | None:
        query = sa.select(job.c.experiment_id).where(
            job.c.workspace == self.workspace,
            job.c.spec_fingerprint == spec.fingerprint,
            job.c.status.in_(_ACTIVE),
        )
        return connection.execute(query).scalar_one_or_none()

    def _insert(
        self,
        connection: Connection,
        spec: ExperimentSpec,
        created_by: str,
        retry_of: str | None,
        workload: Workload,
        limits: dict[str, Any],
    ) -> str:
        run = Experiment(
            id=str(ULID()),
            spec=spec,
            status="queued",
            created_at=datetime.now(UTC),
            created_by=created_by,
            retry_of=retry_of,
        )
        connection.execute(
            experiment.insert().values(
                id=run.id,
                study_id=spec.study_id,
                spec=spec.model_dump(mode="json"),
                created_at=run.created_at,
                created_by=created_by,
                retry_of=retry_of,
                summary=summarise(run, workload),
            )
        )
        keys = {"experiment_id": run.id, "spec_fingerprint": run.spec_fingerprint, "workspace": self.workspace}
        connection.execute(job.insert().values(status="queued", created_at=run.created_at, **keys, **limits))
        bump(connection)
        return run.id


def store_result(connection: Connection, run: Experiment) -> None:
    """Write the record and the summary of a finished run, in the transaction that ends its job."""
    values = {
        "document": run.model_dump(mode="json"),
        "summary": summarise(run, _workload(connection, run.spec.study_id)),
    }
    connection.execute(experiment.update().where(experiment.c.id == run.id).values(**values))


def _workload(connection: Connection, study_id: str) -> Workload:
    query = sa.select(study.c.document).where(study.c.id == study_id)
    return opened(Study, connection.execute(query).scalar_one()).workload


def _records() -> sa.Select[Any]:
    """Documents stay text: pydantic reads it faster than Python makes a tree that is thrown away."""
    texts = (
        sa.type_coerce(column, sa.Text).label(column.name) for column in (experiment.c.document, experiment.c.spec)
    )
    columns = (experiment.c[name] for name in ("id", "created_at", "created_by", "retry_of"))
    return sa.select(*columns, *texts, *_MOVING).join(job, job.c.experiment_id == experiment.c.id)


def _record(row: Any) -> Experiment:
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
        attempt=row.attempt,
        duration_s=_duration_s(row),
        error=opened(Failure, row.failure) if row.failure else None,
        retry_of=row.retry_of,
    )


def _light(row: Any) -> dict[str, Any]:
    noted = row.annotation or {}
    return {
        "experiment_id": row.id,
        "study_id": row.study_id,
        "status": row.status,
        "created_at": row.created_at,
        "created_by": row.created_by,
        "attempt": row.attempt,
        "retry_of": row.retry_of,
        "duration_s": _duration_s(row),
        "reason": row.failure["message"] if row.failure else None,
        "tags": tuple(noted.get("tags", ())),
        "note": noted.get("note", ""),
        "archived": noted.get("archived", False),
        **(row.summary or {}),
    }


def _duration_s(row: Any) -> float | None:
    if row.started_at is None or row.finished_at is None:
        return None
    return float((row.finished_at - row.started_at).total_seconds())
