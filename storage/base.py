"""What the nouns of the ledger share: the connection, looking up an id by its beginning, the version counter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import sqlalchemy as sa
from pydantic import ValidationError
from sqlalchemy.engine import Connection, Engine

from engine.errors import Conflict, NotFound, SchemaTooNew
from engine.records import Record
from storage import database
from storage.schema import counter

MIN_PREFIX = 6
T = TypeVar("T")
R = TypeVar("R", bound=Record)


class Store:
    """Holds the engine, and the workspace whose files the jobs need."""

    def __init__(self, engine: Engine, workspace: str) -> None:
        self.engine = engine
        self.workspace = workspace

    def _read(self, work: Callable[[Connection], T]) -> T:
        return database.read(self.engine, work)

    def _write(self, work: Callable[[Connection], T]) -> T:
        return database.write(self.engine, work)


def find_id(connection: Connection, column: sa.Column[str], ref: str, noun: str) -> str:
    """The one id that is `ref` or begins with it (6 characters or more, capitals or not).

    Raises NotFound; Conflict when several begin so.
    """
    for spelling in dict.fromkeys((ref, ref.lower(), ref.upper())):
        matches = column == spelling
        if len(spelling) >= MIN_PREFIX:
            matches |= column.startswith(spelling, autoescape=True)
        found = connection.execute(sa.select(column).where(matches).order_by(column).limit(3)).scalars().all()
        if spelling in found or len(found) == 1:
            return spelling if spelling in found else found[0]
        if found:
            raise Conflict(
                f"several {noun} ids begin with {ref!r}: {', '.join(found[:2])}, …; write more of the one you mean"
            )
    hint = f"; an id may be cut to its first {MIN_PREFIX} characters, not fewer" if len(ref) < MIN_PREFIX else ""
    raise NotFound(f"there is no {noun} {ref!r}{hint}")


def opened(cls: type[R], document: Any) -> R:
    """The record in a stored document, given as JSON text or value.

    Raises SchemaTooNew for one that other code wrote: an app that runs on while a newer release is used beside it.
    """
    try:
        return cls.model_validate_json(document) if isinstance(document, str) else cls.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SchemaTooNew(
            f"the history holds a {cls.__name__} that this code cannot read ({where}: {first['msg']}); another release "
            "of Whetstone wrote it: restart this one, or update it"
        ) from error


def bump(connection: Connection) -> None:
    """Tell every cache that something it shows has changed; the last statement of the transaction it belongs to."""
    connection.execute(counter.update().where(counter.c.name == "version").values(value=counter.c.value + 1))
