"""Certificates of the history: issued once, counted against their promise, never changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.errors import Conflict
from engine.records import Certificate, Study
from storage.base import Store, bump, find_id, opened
from storage.schema import certificate, study


class Certificates(Store):
    """At most `n_certificates` per promise; there is no update and no removal."""

    def add_certificate(self, new: Certificate) -> Certificate:
        """Take a certificate, numbered; the one that its experiment already has is returned instead.

        Counting and taking are one transaction, so two at once cannot exceed the limit. Raises Conflict when the
        promise allows no more on these rows or is not the frozen one, NotFound.
        """

        def insert(connection: Connection) -> Certificate:
            key = find_id(connection, study.c.id, new.study_id, "study")
            # the lock makes counting and taking one step on PostgreSQL too
            row = connection.execute(sa.select(study).where(study.c.id == key).with_for_update()).one()
            known = _of_experiment(connection, new.experiment_id)
            if known is not None:
                return known
            limit = opened(Study, row.document).promise.band.n_certificates
            number = 1 + _count(connection, certificate.c.study_id == key)
            if number > limit:
                raise no_more(limit)
            if row.promise_hash != new.promise_sha256:
                raise Conflict(
                    f"the promise of {row.name!r} is not the one that was frozen; make a new study for another promise"
                )
            same_rows = (certificate.c.rows_sha256 == new.hashes.rows) & (certificate.c.study_id != key)
            taken = new.model_copy(update={"number": number, "n_elsewhere": _count(connection, same_rows)})
            connection.execute(certificate.insert().values(**_columns(taken)))
            bump(connection)
            return taken

        return self._write(insert)

    def certificate(self, ref: str) -> Certificate:
        """The certificate of this id or unique beginning of it. Raises NotFound, Conflict."""

        def select(connection: Connection) -> Any:
            key = find_id(connection, certificate.c.id, ref, "certificate")
            return connection.execute(sa.select(certificate.c.document).where(certificate.c.id == key)).scalar_one()

        return opened(Certificate, self._read(select))

    def certificate_of(self, experiment_id: str) -> Certificate | None:
        """The certificate of an experiment, if it was certified."""
        return self._read(lambda connection: _of_experiment(connection, experiment_id))

    def certificates(
        self, study_id: str | None = None, known: Mapping[str, Certificate] | None = None
    ) -> list[Certificate]:
        """All certificates, or those of a study, in the order they were issued.

        known: some that were read before, by id. They never change, so they are taken as they are.
        """
        before = known or {}
        query = sa.select(certificate.c.id).order_by(certificate.c.created_at, certificate.c.id)
        if study_id is not None:
            query = query.where(certificate.c.study_id == study_id)

        def select(connection: Connection) -> list[Certificate]:
            ids = connection.execute(query).scalars().all()
            wanted = sa.select(certificate.c.id, certificate.c.document)
            fresh = connection.execute(wanted.where(certificate.c.id.in_([one for one in ids if one not in before])))
            read = {row.id: opened(Certificate, row.document) for row in fresh}
            return [before[one] if one in before else read[one] for one in ids]

        return self._read(select)


def no_more(limit: int) -> Conflict:
    """What is said to the one who asks for a certificate too many."""
    return Conflict(
        f"new rows needed: all {limit} certificates that this promise allows on these certification rows are issued. "
        "Make a new study with rows that were not certified on"
    )


def _of_experiment(connection: Connection, experiment_id: str) -> Certificate | None:
    query = sa.select(certificate.c.document).where(certificate.c.experiment_id == experiment_id)
    document = connection.execute(query).scalar_one_or_none()
    return None if document is None else opened(Certificate, document)


def _count(connection: Connection, which: sa.ColumnElement[bool]) -> int:
    return int(connection.execute(sa.select(sa.func.count()).select_from(certificate).where(which)).scalar_one())


def _columns(record: Certificate) -> dict[str, Any]:
    return {
        "id": record.id,
        "experiment_id": record.experiment_id,
        "study_id": record.study_id,
        "rows_sha256": record.hashes.rows,
        "document": record.model_dump(mode="json"),
        "created_at": record.created_at,
    }
