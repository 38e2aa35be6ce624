"""Studies of the history, and the freezing of their promises."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError

from engine.errors import Conflict, InvalidRequest, NotFound
from engine.records import Promise, Study
from storage.base import Store, bump, find_id, opened
from storage.columns import storable
from storage.database import now
from storage.schema import eval_set, model, study

MAX_NAME = 200


class Studies(Store):
    """A study is found by its id, a unique beginning of it, or its exact name."""

    def add_study(self, new: Study) -> None:
        """Store a new study. Raises NotFound when its model or evaluation set is not here, Conflict for a known id."""

        def insert(connection: Connection) -> None:
            find_id(connection, model.c.id, new.model_id, "model")
            find_id(connection, eval_set.c.id, new.eval_set_id, "evaluation set")
            connection.execute(study.insert().values(created_at=new.created_at, **_columns(new)))
            bump(connection)

        try:
            self._write(insert)
        except IntegrityError as error:
            raise Conflict(f"a study with the id {new.id} exists already") from error

    def study(self, ref: str) -> Study:
        """The study `ref`. Raises NotFound; Conflict when several have this name or beginning."""
        return opened(Study, self._study_row(ref).document)

    def studies(self, include_archived: bool = False) -> list[Study]:
        """The studies, newest first."""
        query = sa.select(study.c.document).order_by(study.c.created_at.desc(), study.c.id.desc())
        if not include_archived:
            query = query.where(study.c.archived == sa.false())
        documents = self._read(lambda connection: connection.execute(query).scalars().all())
        return [opened(Study, document) for document in documents]

    def archive_study(self, ref: str, archived: bool = True) -> None:
        """Take a study out of the lists, or put it back. Raises NotFound, Conflict."""
        self.archive_studies([ref], archived)

    def archive_studies(self, refs: Sequence[str], archived: bool = True) -> None:
        """The same for several at once: all or none. Raises NotFound, Conflict."""

        def update(connection: Connection) -> None:
            keys = sorted(_find(connection, ref) for ref in refs)
            connection.execute(study.update().where(study.c.id.in_(keys)).values(archived=archived))
            bump(connection)

        self._write(update)

    def archived_studies(self) -> frozenset[str]:
        """Ids of the studies that are kept out of the lists."""
        query = sa.select(study.c.id).where(study.c.archived == sa.true())
        return frozenset(self._read(lambda connection: connection.execute(query).scalars().all()))

    def study_archived(self, ref: str) -> bool:
        """True when the study is kept out of the lists. Raises NotFound, Conflict."""
        return bool(self._study_row(ref).archived)

    def rename_study(self, ref: str, name: str, expected_name: str) -> Study:
        """Call a study otherwise. The promise does not hold the name, so this may happen at any time.

        Raises Conflict when it is not called `expected_name` any more, InvalidRequest for a name that is no name,
        NotFound.
        """
        wanted = name.strip()
        if not 1 <= len(wanted) <= MAX_NAME:
            raise InvalidRequest(f"the name of a study has 1 to {MAX_NAME} characters, got {len(wanted)}")

        def update(connection: Connection) -> Study:
            key = _find(connection, ref)
            row = connection.execute(sa.select(study).where(study.c.id == key).with_for_update()).one()
            if row.name != storable(expected_name):
                raise Conflict(f"somebody has called this study {row.name!r} meanwhile; read it again, then rename it")
            changed = opened(Study, row.document | {"name": wanted})
            connection.execute(study.update().where(study.c.id == key).values(**_columns(changed)))
            bump(connection)
            return changed

        return self._write(update)

    def update_promise(self, ref: str, promise: Promise) -> Study:
        """Promise something else. Raises Conflict once the first experiment has started."""

        def update(connection: Connection) -> Study:
            key = _find(connection, ref)
            row = connection.execute(sa.select(study).where(study.c.id == key).with_for_update()).one()
            if row.promise_frozen_at is not None:
                raise Conflict(
                    f"the promise of {row.name!r} is frozen since {row.promise_frozen_at:%Y-%m-%d %H:%M} UTC, when its "
                    "first experiment started; make a new study to promise something else"
                )
            changed = opened(Study, row.document | {"promise": promise.model_dump(mode="json")})
            connection.execute(study.update().where(study.c.id == key).values(**_columns(changed)))
            bump(connection)
            return changed

        return self._write(update)

    def promise_frozen_at(self, ref: str) -> datetime | None:
        """When the first experiment started; None: the promise may still change. Raises NotFound, Conflict."""
        moment: datetime | None = self._study_row(ref).promise_frozen_at
        return moment

    def promise_hash(self, ref: str) -> str | None:
        """Fingerprint of the promise as it was frozen; None before. Raises NotFound, Conflict."""
        digest: str | None = self._study_row(ref).promise_hash
        return digest

    def _study_row(self, ref: str) -> Any:
        return self._read(
            lambda connection: connection.execute(sa.select(study).where(study.c.id == _find(connection, ref))).one()
        )


def freeze_promise(connection: Connection, study_id: str) -> Study:
    """The study, its promise frozen from now on. Called in the transaction that starts an experiment."""
    row = connection.execute(sa.select(study).where(study.c.id == study_id).with_for_update()).one()
    found = opened(Study, row.document)
    if row.promise_frozen_at is None:
        values = {"promise_frozen_at": now(connection), "promise_hash": found.promise.fingerprint}
        connection.execute(study.update().where(study.c.id == study_id).values(**values))
        bump(connection)
    return found


def _find(connection: Connection, ref: str) -> str:
    """The id of the study that `ref` names: id first, then exact name, then beginning of an id."""
    if connection.execute(sa.select(study.c.id).where(study.c.id == ref)).first():
        return ref
    named = connection.execute(sa.select(study.c.id).where(study.c.name == ref).order_by(study.c.id)).scalars().all()
    if len(named) > 1:
        raise Conflict(f"{len(named)} studies are called {ref!r}; use an id: {', '.join(named[:5])}")
    if named:
        return str(named[0])
    try:
        return find_id(connection, study.c.id, ref, "study")
    except NotFound as error:
        raise NotFound(f"there is no study {ref!r}; give its exact name, or 6 or more characters of its id") from error


def _columns(record: Study) -> dict[str, Any]:
    return {
        "id": record.id,
        "name": record.name,
        "model_id": record.model_id,
        "eval_set_id": record.eval_set_id,
        "document": record.model_dump(mode="json"),
    }
