"""Bring the tables of a history to this release, a backup copy first; never touch a newer one.

All migrations run in one transaction under one lock (SQLite: its write lock; PostgreSQL: an advisory lock), so two
processes may start at once and a crash leaves the history as it was.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import ProgrammingError

from engine.errors import HistoryUnavailable, InvalidRequest, NoSpace, SchemaTooNew
from storage.database import place, read, rebuild
from storage.schema import REVISION, metadata
from storage.summary import refill

MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK_KEY = 0x77686574  # "whet": any number no other program of this database uses
_one_thread = threading.Lock()  # Alembic keeps its context in module globals


def upgrade(engine: Engine, *, target: str = REVISION, scripts: Path = MIGRATIONS) -> None:
    """Migrate to `target` when the history is older. SQLite is copied to `<file>.backup-<revision>` before.

    Raises SchemaTooNew for a revision this release does not know, InvalidRequest for somebody else's database.
    """
    if read(engine, revision) == target:
        return
    with _one_thread:
        rebuild(engine, lambda connection: _migrate(connection, target, scripts))


def revision(connection: Connection) -> str | None:
    """The revision the tables are at; None for an empty database. Raises InvalidRequest for foreign tables."""
    tables = set(sa.inspect(connection).get_table_names())
    if "alembic_version" in tables:
        found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalars().all()
        if found:
            return str(found[0])
        tables -= {"alembic_version"}
    if tables:
        raise InvalidRequest(
            f"{place(connection.engine.url)} holds tables of another program ({', '.join(sorted(tables)[:3])}); "
            "give Whetstone a database of its own"
        )
    return None


def _migrate(connection: Connection, target: str, scripts: Path) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
    current = revision(connection)
    if current == target:
        return
    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if current is not None and current not in known:
        raise SchemaTooNew(
            f"the history ({place(connection.engine.url)}) was written by a newer Whetstone: its tables are at "
            f"revision {current}, this release knows up to {max(known)}. It was not touched; update Whetstone"
        )
    if current is not None:
        _back_up(connection, current)
    config.attributes["connection"] = connection
    command.upgrade(config, target)
    if target == REVISION:
        refill(connection)
    if connection.dialect.name == "sqlite" and (
        broken := connection.execute(sa.text("PRAGMA foreign_key_check")).all()
    ):
        raise HistoryUnavailable(f"the upgrade would leave {len(broken)} rows that refer to nothing; it was undone")


def _back_up(connection: Connection, current: str) -> None:
    if connection.dialect.name == "sqlite":
        path = Path(str(connection.engine.url.database))
        _copy_file(path, path.with_name(f"{path.name}.backup-{current}"))
    else:
        _copy_tables(connection, f"whetstone_backup_{current}")


def _copy_file(source: Path, backup: Path) -> None:
    """A consistent copy by SQLite's online backup, written aside and renamed."""
    draft = backup.with_name(f"{backup.name}.draft")
    try:
        with closing(sqlite3.connect(source)) as reader, closing(sqlite3.connect(draft)) as writer:
            reader.backup(writer)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(backup)
    except (sqlite3.OperationalError, OSError) as error:
        raise NoSpace(
            f"the copy {backup} that precedes an upgrade could not be written ({error}); the history was not touched"
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def _copy_tables(connection: Connection, schema: str) -> None:
    """Copies of all tables in a schema beside ours; no other program is needed for it."""
    try:
        with connection.begin_nested():
            connection.execute(sa.text(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE'))
            connection.execute(sa.text(f'CREATE SCHEMA "{schema}"'))
            for table in sorted(set(sa.inspect(connection).get_table_names()) & {*metadata.tables, "alembic_version"}):
                connection.execute(sa.text(f'CREATE TABLE "{schema}"."{table}" AS TABLE "{table}"'))
    except ProgrammingError as error:
        raise InvalidRequest(
            f"the copy that precedes an upgrade could not be made ({str(error.orig).splitlines()[0]}); allow this user "
            "to create a schema in the database; the history was not touched"
        ) from error
