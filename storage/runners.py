"""Who serves the queue: which code each runner runs, and whether it was asked to make room for a newer one."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from storage import database
from storage.schema import runner


class Runners:
    """Ids are "<owner>:…"; at most one runner of an owner is alive, the one that holds the lock on its machine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def register(self, runner_id: str, code_version: str, schema_revision: str) -> None:
        """Enter the runner that now holds the lock; what its forerunners left is removed."""
        owner = runner_id.partition(":")[0]

        def replace(connection: Connection) -> None:
            connection.execute(runner.delete().where(_of(owner)))
            values = {"id": runner_id, "code_version": code_version, "schema_revision": schema_revision}
            connection.execute(runner.insert().values(started_at=database.now(connection), **values))

        database.write(self.engine, replace)

    def code_version(self, owner: str) -> str | None:
        """Which code the owner's runner runs; None when none is entered."""
        query = sa.select(runner.c.code_version).where(_of(owner))
        return database.read(self.engine, lambda connection: connection.execute(query).scalars().first())

    def ask_to_retire(self, owner: str, code_version: str) -> None:
        """Ask the owner's runner of any other version to finish its attempts and go."""
        statement = runner.update().where(_of(owner), runner.c.code_version != code_version)
        database.write(self.engine, lambda connection: connection.execute(statement.values(retire_requested=True)))

    def must_retire(self, runner_id: str, schema_revision: str) -> bool:
        """True when this runner shall take no more jobs: it was asked to go, or the tables have moved on."""

        def select(connection: Connection) -> bool:
            row = connection.execute(sa.select(runner.c.retire_requested).where(runner.c.id == runner_id)).first()
            tables = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one()
            return row is None or bool(row.retire_requested) or tables != schema_revision

        return database.read(self.engine, select)

    def remove(self, runner_id: str) -> None:
        """Take a runner that ends out of the list."""
        statement = runner.delete().where(runner.c.id == runner_id)
        database.write(self.engine, lambda connection: connection.execute(statement))


def _of(owner: str) -> sa.ColumnElement[bool]:
    return runner.c.id.startswith(f"{owner}:", autoescape=True)
