"""Tags and notes on experiments and studies. Two people who edit at once: the second is told, nothing is lost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError

from engine.errors import Conflict, InvalidRequest
from engine.records import Annotation, StudyAnnotation
from storage.base import Store, bump, find_id, opened
from storage.schema import annotation, experiment, study, study_annotation

Note = TypeVar("Note", Annotation, StudyAnnotation)


class Annotations(Store):
    """One annotation per experiment and per study, the latest."""

    def annotation(self, ref: str) -> Annotation | None:
        """What is noted about an experiment; None: nothing yet. Raises NotFound, Conflict."""

        def select(connection: Connection) -> Annotation | None:
            key = find_id(connection, experiment.c.id, ref, "experiment")
            return _stored(connection, Annotation, key)

        return self._read(select)

    def annotations(self) -> dict[str, Annotation]:
        """Everything that is noted, by experiment."""
        query = sa.select(annotation.c.document)
        documents = self._read(lambda connection: connection.execute(query).scalars().all())
        return {one.experiment_id: one for one in (opened(Annotation, document) for document in documents)}

    def annotate(self, new: Annotation, expected_when: datetime | None = None) -> None:
        """Replace the annotation that was read with `when` = `expected_when` (None: there was none).

        Raises Conflict when somebody changed it since, NotFound.
        """
        self._replace(Annotation, new.experiment_id, new, expected_when)

    def change_annotations(self, ids: Sequence[str], change: Callable[[Annotation], Annotation], who: str) -> None:
        """Change several experiments at once: all or none. What `change` leaves alone stays as it is stored.

        Raises NotFound.
        """
        moment = datetime.now(UTC)

        def update(connection: Connection) -> None:
            for ref in sorted(ids):  # one order for everybody: two of these at once cannot wait for each other
                key = _locked(connection, Annotation, ref)
                stored = _stored(connection, Annotation, key)
                changed = change(stored or Annotation(experiment_id=key, who=who, when=moment))
                _put(connection, key, changed.model_copy(update={"who": who, "when": moment}), stored)
            bump(connection)

        self._write(update)

    def study_annotation(self, study_id: str) -> StudyAnnotation | None:
        """What people added to a study; None: nothing yet."""
        return self._read(lambda connection: _stored(connection, StudyAnnotation, study_id))

    def study_annotations(self) -> dict[str, StudyAnnotation]:
        """Everything that was added, by study."""
        query = sa.select(study_annotation.c.document)
        documents = self._read(lambda connection: connection.execute(query).scalars().all())
        return {one.study_id: one for one in (opened(StudyAnnotation, document) for document in documents)}

    def annotate_study(self, new: StudyAnnotation, expected_when: datetime | None = None) -> None:
        """As `annotate`, for a study. Raises Conflict when somebody changed it since, NotFound."""
        self._replace(StudyAnnotation, new.study_id, new, expected_when)

    def set_request_ms(self, study_id: str, request_ms: float | None, who: str) -> StudyAnnotation:
        """Write down how long a whole request takes; tags and note stay as they are stored.

        None takes it back. Raises InvalidRequest, NotFound.
        """
        if request_ms is not None and not 0 < request_ms < math.inf:
            raise InvalidRequest(f"a request takes more than 0 ms, got {request_ms:g}")

        def update(connection: Connection) -> StudyAnnotation:
            key = _locked(connection, StudyAnnotation, study_id)
            stored = _stored(connection, StudyAnnotation, key)
            values = {"study_id": key, "request_ms": request_ms, "who": who, "when": datetime.now(UTC)}
            new = StudyAnnotation(**{**(stored.model_dump() if stored else {}), **values})
            _put(connection, key, new, stored)
            bump(connection)
            return new

        return self._write(update)

    def _replace(self, kind: type[Note], ref: str, new: Note, expected_when: datetime | None) -> None:
        def update(connection: Connection) -> None:
            key = _locked(connection, kind, ref)
            stored = _stored(connection, kind, key)
            if (stored.when if stored else None) != expected_when:
                raise _changed(stored)
            _put(connection, key, new.model_copy(update={_PLACES[kind][1].name: key}), stored)
            bump(connection)

        try:
            self._write(update)
        except IntegrityError as error:
            raise _changed(None) from error


_PLACES: dict[type, tuple[sa.Table, sa.Column[str], sa.Column[str], str]] = {
    Annotation: (annotation, annotation.c.experiment_id, experiment.c.id, "experiment"),
    StudyAnnotation: (study_annotation, study_annotation.c.study_id, study.c.id, "study"),
}


def _locked(connection: Connection, kind: type[Note], ref: str) -> str:
    """The id; the lock makes reading and changing its annotation one step on PostgreSQL too."""
    _, _, owner, noun = _PLACES[kind]
    key = find_id(connection, owner, ref, noun)
    connection.execute(sa.select(owner).where(owner == key).with_for_update())
    return key


def _stored(connection: Connection, kind: type[Note], key: str) -> Note | None:
    table, column, _, _ = _PLACES[kind]
    document = connection.execute(sa.select(table.c.document).where(column == key)).scalar_one_or_none()
    return opened(kind, document) if document else None


def _put(connection: Connection, key: str, new: Annotation | StudyAnnotation, stored: object) -> None:
    table, column, _, _ = _PLACES[type(new)]
    values = {"document": new.model_dump(mode="json"), "changed_at": new.when}
    if stored is None:
        connection.execute(table.insert().values({column.name: key, **values}))
    else:
        connection.execute(table.update().where(column == key).values(**values))


def _changed(stored: Annotation | StudyAnnotation | None) -> Conflict:
    who = f"{stored.who} at {stored.when:%H:%M:%S} UTC" if stored else "somebody"
    return Conflict(f"the note was changed by {who} while you were editing; read it again, then save yours")
