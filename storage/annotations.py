"""Tags and notes on experiments. Two people who edit at once: the second is told, nothing is lost."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError

from engine.errors import Conflict
from engine.records import Annotation
from storage.base import Store, bump, find_id, opened
from storage.schema import annotation, experiment


class Annotations(Store):
    """One annotation per experiment, the latest."""

    def annotation(self, ref: str) -> Annotation | None:
        """What is noted about an experiment; None: nothing yet. Raises NotFound, Conflict."""

        def select(connection: Connection) -> Annotation | None:
            key = find_id(connection, experiment.c.id, ref, "experiment")
            return _stored(connection, key)

        return self._read(select)

    def annotate(self, new: Annotation, expected_when: datetime | None = None) -> None:
        """Replace the annotation that was read with `when` = `expected_when` (None: there was none).

        Raises Conflict when somebody changed it since, NotFound.
        """

        def update(connection: Connection) -> None:
            key = find_id(connection, experiment.c.id, new.experiment_id, "experiment")
            # the lock makes the comparison and the change one step on PostgreSQL too
            connection.execute(sa.select(experiment.c.id).where(experiment.c.id == key).with_for_update())
            stored = _stored(connection, key)
            if (stored.when if stored else None) != expected_when:
                raise _changed(stored)
            values = {
                "document": new.model_copy(update={"experiment_id": key}).model_dump(mode="json"),
                "changed_at": new.when,
            }
            if stored:
                connection.execute(annotation.update().where(annotation.c.experiment_id == key).values(**values))
            else:
                connection.execute(annotation.insert().values(experiment_id=key, **values))
            bump(connection)

        try:
            self._write(update)
        except IntegrityError as error:
            raise _changed(None) from error


def _stored(connection: Connection, key: str) -> Annotation | None:
    query = sa.select(annotation.c.document).where(annotation.c.experiment_id == key)
    document = connection.execute(query).scalar_one_or_none()
    return opened(Annotation, document) if document else None


def _changed(stored: Annotation | None) -> Conflict:
    who = f"{stored.who} at {stored.when:%H:%M:%S} UTC" if stored else "somebody"
    return Conflict(f"the note was changed by {who} while you were editing; read it again, then save yours")
