"""Models and evaluation sets of the history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError

from engine.records import EvalSetInfo, Manifest
from storage.base import Store, find_id, opened
from storage.schema import eval_set, model


@dataclass(frozen=True)
class ModelEntry:
    """A model and how people call it."""

    manifest: Manifest
    display_name: str
    created_at: datetime


@dataclass(frozen=True)
class EvalSetEntry:
    """An evaluation set and how people call it."""

    info: EvalSetInfo
    display_name: str
    created_at: datetime


class Models(Store):
    """What was brought. The same content brought twice is one entry, under its first name."""

    def add_model(self, manifest: Manifest, display_name: str) -> None:
        """Remember a model; one that is known already stays as it is."""
        self._add(model, manifest.id, manifest.model_dump(mode="json"), display_name)

    def model(self, ref: str) -> Manifest:
        """The model of this id or unique beginning of it. Raises NotFound, Conflict."""
        return self.model_entry(ref).manifest

    def model_entry(self, ref: str) -> ModelEntry:
        """The same with its name. Raises NotFound, Conflict."""
        row = self._read(lambda connection: _one(connection, model, ref, "model"))
        return ModelEntry(opened(Manifest, row.document), row.display_name, row.created_at)

    def models(self) -> list[ModelEntry]:
        """Every model, oldest first."""
        rows = self._read(lambda connection: connection.execute(sa.select(model).order_by(model.c.created_at)).all())
        return [ModelEntry(opened(Manifest, row.document), row.display_name, row.created_at) for row in rows]

    def add_eval_set(self, info: EvalSetInfo, display_name: str) -> None:
        """Remember an evaluation set; one that is known already stays as it is."""
        self._add(eval_set, info.id, info.model_dump(mode="json"), display_name)

    def eval_set(self, ref: str) -> EvalSetInfo:
        """The evaluation set of this id or unique beginning of it. Raises NotFound, Conflict."""
        return self.eval_set_entry(ref).info

    def eval_set_entry(self, ref: str) -> EvalSetEntry:
        """The same with its name. Raises NotFound, Conflict."""
        row = self._read(lambda connection: _one(connection, eval_set, ref, "evaluation set"))
        return EvalSetEntry(opened(EvalSetInfo, row.document), row.display_name, row.created_at)

    def eval_sets(self) -> list[EvalSetEntry]:
        """Every evaluation set, oldest first."""
        query = sa.select(eval_set).order_by(eval_set.c.created_at)
        rows = self._read(lambda connection: connection.execute(query).all())
        return [EvalSetEntry(opened(EvalSetInfo, row.document), row.display_name, row.created_at) for row in rows]

    def _add(self, table: sa.Table, key: str, document: dict[str, Any], display_name: str) -> None:
        def insert(connection: Connection) -> None:
            if connection.execute(sa.select(table.c.id).where(table.c.id == key)).first() is None:
                values = {"id": key, "display_name": display_name, "document": document}
                connection.execute(table.insert().values(created_at=datetime.now(UTC), **values))

        try:
            self._write(insert)
        except IntegrityError:  # somebody added the same content in this moment
            self._write(insert)


def _one(connection: Connection, table: sa.Table, ref: str, noun: str) -> Any:
    key = find_id(connection, table.c.id, ref, noun)
    return connection.execute(sa.select(table).where(table.c.id == key)).one()
