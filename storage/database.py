"""Open the database of the history, and run short reads and writes in it.

SQLite: WAL, a busy timeout, BEGIN IMMEDIATE for writes (a transaction that reads and then writes under plain BEGIN
fails at once, whatever the timeout), plain BEGIN for reads. PostgreSQL: psycopg 3. Every trouble of the database comes
out as one of our errors; no message holds a password.
"""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError, OperationalError, TimeoutError

from engine.errors import HistoryUnavailable, InvalidRequest, NoSpace
from storage.columns import UtcTime

BUSY_TIMEOUT_S = 30.0
CONNECT_TIMEOUT_S = 10
N_TRIES = 5
T = TypeVar("T")
Work = Callable[[Connection], T]
_READS, _REBUILDS = "whetstone_reads", "whetstone_rebuilds"
_SQLITE_AWAY = ("unable to open", "readonly", "disk I/O", "not a database", "malformed", "write-ahead log")


def default_url(home: Path) -> str:
    """The history of this workspace when nobody names a database: one SQLite file."""
    return f"sqlite:///{home / 'whetstone.db'}"


def connect(url: str) -> Engine:
    """Open the database and answer for it once. `?timeout=SECONDS` of an SQLite URL sets the busy timeout.

    Raises InvalidRequest for an unusable URL, HistoryUnavailable when nobody answers.
    """
    parsed = _parse(url)
    engine = _sqlite(parsed) if parsed.get_backend_name() == "sqlite" else _postgresql(parsed)
    read(engine, lambda connection: connection.execute(sa.text("SELECT 1")))
    return engine


def read(engine: Engine, work: Work[T]) -> T:
    """What `work` returns, in one read transaction."""
    return _run(engine.execution_options(**{_READS: True}), work)


def write(engine: Engine, work: Work[T]) -> T:
    """What `work` returns, in one short write transaction: all of it is stored or nothing.

    `work` may run again when the database asks for another try, so it has no effect outside of it.
    """
    return _run(engine, work)


def rebuild(engine: Engine, work: Work[T]) -> T:
    """As `write`, with SQLite's foreign keys off, which a migration needs that builds a table anew."""
    try:
        return _run(engine.execution_options(**{_REBUILDS: True}), work)
    finally:
        engine.dispose()  # SQLite connections start again with foreign keys on


def now(connection: Connection, plus_s: float = 0.0) -> sa.ColumnElement[datetime]:
    """The moment (or one later) as an SQL value, by the clock that all machines of this database share."""
    later = timedelta(seconds=plus_s)
    if connection.dialect.name == "postgresql":
        return sa.type_coerce(sa.func.clock_timestamp() + sa.literal(later, sa.Interval), UtcTime)
    return sa.literal(datetime.now(UTC) + later, UtcTime)  # SQLite has one machine only


def identity(engine: Engine) -> str:
    """Equal for two engines exactly when they reach the same database, however the URL was spelled."""
    if engine.dialect.name == "sqlite":
        status = Path(str(engine.url.database)).stat()
        return f"sqlite:{status.st_dev}:{status.st_ino}"
    query = sa.text("SELECT system_identifier, current_database() FROM pg_control_system()")
    row = read(engine, lambda connection: connection.execute(query).one())
    return f"postgresql:{row[0]}:{row[1]}"


def normal_url(url: str) -> str:
    """The URL as any process may use it: absolute path, driver named. Holds the password. Raises InvalidRequest."""
    return _parse(url).render_as_string(hide_password=False)


def place(url: URL) -> str:
    """Where the database is, without user, password and options."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    host = url.host or url.query.get("host") or "the local socket"
    return f"PostgreSQL at {host}{f':{url.port}' if url.port else ''}, database {url.database}"


def _parse(url: str) -> URL:
    try:
        parsed = sa.make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, ValueError):
        raise InvalidRequest(
            "the database URL cannot be read; use sqlite:////path/file.db or postgresql://user@host/name"
        ) from None
    if backend == "postgres":
        parsed, backend = parsed.set(drivername="postgresql"), "postgresql"
    if backend == "postgresql":
        return parsed.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise InvalidRequest(f"a history is kept in SQLite or PostgreSQL, got a URL for {backend!r}")
    if not parsed.database or parsed.database == ":memory:" or parsed.database.startswith("file:"):
        raise InvalidRequest("the SQLite history needs a plain file path: several processes share it")
    return parsed.set(drivername="sqlite", database=str(Path(parsed.database).resolve()))


def _sqlite(url: URL) -> Engine:
    timeout_s = float(str(url.query.get("timeout", BUSY_TIMEOUT_S)))
    engine = sa.create_engine(url.set(query={}), connect_args={"timeout": timeout_s}, pool_size=5, max_overflow=20)

    @event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves
        _use_wal(connection, timeout_s)
        for pragma in ("synchronous=NORMAL", f"busy_timeout={int(timeout_s * 1000)}", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if options.get(_REBUILDS):
            connection.exec_driver_sql("PRAGMA foreign_keys=OFF")  # has no effect after BEGIN
        connection.exec_driver_sql("BEGIN" if options.get(_READS) else "BEGIN IMMEDIATE")

    return engine


def _use_wal(connection: sqlite3.Connection, timeout_s: float) -> None:
    """Switch to the write-ahead log. SQLite does not wait its busy timeout here, so we do."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
            break
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    if mode != "wal":
        raise sqlite3.OperationalError("no write-ahead log here; the file must lie on a local disk")


def _postgresql(url: URL) -> Engine:
    try:
        return sa.create_engine(
            url, pool_pre_ping=True, pool_size=5, max_overflow=20, connect_args={"connect_timeout": CONNECT_TIMEOUT_S}
        )
    except (ImportError, NoSuchModuleError):
        raise InvalidRequest("a PostgreSQL history needs the Python package psycopg[binary]") from None


def _run(engine: Engine, work: Work[T]) -> T:
    for attempt in range(N_TRIES):
        try:
            with engine.begin() as connection:
                return work(connection)
        except IntegrityError:
            raise
        except TimeoutError as error:
            raise HistoryUnavailable(f"too many at once use the history ({place(engine.url)}); try again") from error
        except DBAPIError as error:
            if not _asks_for_another_try(error) or attempt == N_TRIES - 1:
                raise _explained(error, engine.url) from error
            time.sleep(random.uniform(0.01, 0.1) * (attempt + 1))  # noqa: S311  # jitter, not a secret
    raise AssertionError("unreachable")


def _asks_for_another_try(error: DBAPIError) -> bool:
    """True when the whole transaction was refused because of another one: serialisation failure or deadlock."""
    return getattr(error.orig, "sqlstate", None) in {"40001", "40P01"}


def _explained(error: DBAPIError, url: URL) -> Exception:
    """Our error for what happened, or the error itself when it is a fault of ours (wrong SQL, wrong types)."""
    text = (str(error.orig).strip().splitlines() or [type(error.orig).__name__])[0]
    for secret in (url.password, url.query.get("password")):
        text = text.replace(str(secret), "***") if secret else text
    code = getattr(error.orig, "sqlstate", None)
    if "disk is full" in text or code == "53100":
        return NoSpace(f"the disk of the history is full ({place(url)}); free some space and try again")
    if "locked" in text or "busy" in text:
        return HistoryUnavailable(
            f"the history is busy ({place(url)}): another program has held it too long; try again"
        )
    if error.connection_invalidated or _is_away(error, text):
        return HistoryUnavailable(f"the history cannot be reached ({place(url)}): {text}")
    return error


def _is_away(error: DBAPIError, text: str) -> bool:
    """SQLSTATE classes 08 connection, 28 log-in, 3D no such database, 53 resources, 57P server going down."""
    if isinstance(error.orig, sqlite3.Error):
        return any(part in text for part in _SQLITE_AWAY)
    code = getattr(error.orig, "sqlstate", None)
    if code is None:
        return isinstance(error, OperationalError)
    return code[:2] in {"08", "28", "3D", "53"} or code.startswith("57P")
