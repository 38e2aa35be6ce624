"""Opening the database, and what a user reads when that fails."""

from __future__ import annotations

import sqlite3
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from engine.errors import HistoryUnavailable, InvalidRequest, NoSpace, WhetstoneError
from storage import database
from storage.ledger import Ledger
from tests import history


@pytest.fixture
def path(tmp_path):
    return tmp_path / "whetstone.db"


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "cannot be read"),
        ("whetstone.db", "cannot be read"),
        ("mysql://u:geheim@h/d", "SQLite or PostgreSQL, got a URL for 'mysql'"),
        ("sqlite://", "plain file path"),
        ("sqlite:///:memory:", "plain file path"),
        ("postgresql://u:geheim@h:port/d", "cannot be read"),
    ],
)
def test_an_unusable_url_is_refused_without_its_password(url, says):
    with pytest.raises(InvalidRequest, match=says) as caught:
        database.connect(url)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("query", ["", "?password=geheim"])
def test_a_server_that_does_not_answer_is_named_without_its_password(query):
    with pytest.raises(HistoryUnavailable, match=r"PostgreSQL at 127\.0\.0\.1:1, database history") as caught:
        database.connect(f"postgresql://ada:geheim@127.0.0.1:1/history{query}")
    assert "geheim" not in str(caught.value)


@pytest.mark.postgres
@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg", "postgresql+psycopg2"])
def test_every_spelling_of_postgresql_gets_our_driver(scheme, tmp_path):
    url = history.new_database("postgresql", tmp_path).replace("postgresql", scheme)
    engine = database.connect(url)
    assert engine.dialect.driver == "psycopg"
    engine.dispose()


@pytest.mark.postgres
def test_an_unknown_user_and_database_are_said(tmp_path):
    url = history.new_database("postgresql", tmp_path)
    for wrong in (url + "x", url.replace("plain@", "nobody:geheim@")):
        with pytest.raises(HistoryUnavailable, match="does not exist") as caught:
            database.connect(wrong)
        assert "geheim" not in str(caught.value)


def test_a_file_that_is_no_database_is_refused_and_kept(path):
    path.write_bytes(b"id,label\n1,2\n" * 100)
    with pytest.raises(HistoryUnavailable, match="not a database"):
        database.connect(f"sqlite:///{path}")
    assert path.read_bytes() == b"id,label\n1,2\n" * 100


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(HistoryUnavailable, match="unable to open"):
        database.connect(f"sqlite:///{tmp_path}/nowhere/x.db")


def test_sqlite_is_set_up_for_many_processes(path):
    engine = database.connect(f"sqlite:///{path}?timeout=7")
    with engine.connect() as connection:
        values = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "busy_timeout")]
        assert values == ["wal", 7000]
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    engine.dispose()


def test_a_history_held_too_long_is_busy_in_our_words(path):
    ledger = Ledger.open(f"sqlite:///{path}?timeout=0.2", path.parent / "home")
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(HistoryUnavailable, match="busy"):
            history.add_study(ledger)
        assert ledger.studies() == []  # reading goes on
        other.execute("ROLLBACK")
    history.add_study(ledger)
    ledger.close()


def test_a_transaction_that_reads_and_then_writes_waits_its_turn(path):
    """Under plain BEGIN the second of two such transactions fails at once, whatever the timeout."""
    engine = database.connect(f"sqlite:///{path}")
    database.write(engine, lambda connection: connection.exec_driver_sql("CREATE TABLE tally (n INTEGER)"))
    database.write(engine, lambda connection: connection.exec_driver_sql("INSERT INTO tally VALUES (0)"))

    def add_one(connection):
        n = connection.exec_driver_sql("SELECT n FROM tally").scalar()
        time.sleep(0.01)
        connection.exec_driver_sql(f"UPDATE tally SET n = {n + 1}")

    threads = [threading.Thread(target=database.write, args=(engine, add_one)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT n FROM tally").scalar() == 20
    engine.dispose()


@pytest.mark.postgres
def test_a_deadlock_is_tried_again(tmp_path):
    engine = database.connect(history.new_database("postgresql", tmp_path))
    database.write(engine, lambda connection: connection.exec_driver_sql("CREATE TABLE tally (id int, n int)"))
    database.write(engine, lambda connection: connection.exec_driver_sql("INSERT INTO tally VALUES (1, 0), (2, 0)"))
    both_hold_one = threading.Barrier(2)
    tries = []

    def add_one(first, second):
        def work(connection):
            tries.append(first)
            connection.exec_driver_sql(f"UPDATE tally SET n = n + 1 WHERE id = {first}")
            if len(tries) <= 2:
                both_hold_one.wait(10)
            connection.exec_driver_sql(f"UPDATE tally SET n = n + 1 WHERE id = {second}")

        database.write(engine, work)

    threads = [threading.Thread(target=add_one, args=order) for order in ((1, 2), (2, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tries) == 3
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT n FROM tally ORDER BY id").scalars().all() == [2, 2]
    engine.dispose()


def test_one_file_has_one_identity_however_it_is_spelled(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.db").symlink_to(path)
    spellings = [f"sqlite:///{path}", "sqlite:///whetstone.db", "sqlite:///./x/../whetstone.db", "sqlite:///link.db"]
    assert len({_identity(spelling) for spelling in spellings}) == 1
    assert _identity("sqlite:///other.db") != _identity(spellings[0])


@pytest.mark.postgres
def test_one_server_database_has_one_identity_however_it_is_spelled(tmp_path):
    url = history.new_database("postgresql", tmp_path)
    other = history.new_database("postgresql", tmp_path)
    assert _identity(url) == _identity(url.replace("127.0.0.1", "localhost")) != _identity(other)


def _identity(url):
    engine = database.connect(url)
    try:
        return database.identity(engine)
    finally:
        engine.dispose()


@pytest.mark.postgres
def test_lease_times_come_from_the_clock_of_the_server(tmp_path):
    url = history.new_database("postgresql", tmp_path)
    engine = database.connect(url)
    statement = database.read(engine, lambda connection: sa.select(database.now(connection, 60)))
    compiled = str(statement.compile(dialect=engine.dialect))
    assert "clock_timestamp()" in compiled
    value = database.read(engine, lambda connection: connection.execute(statement).scalar())
    assert abs(value - datetime.now(UTC) - timedelta(seconds=60)) < timedelta(seconds=30)
    engine.dispose()


@pytest.mark.postgres
def test_a_server_that_goes_away_is_said_and_found_again_when_it_is_back():
    programs = history.programs()
    if programs is None:
        pytest.skip("not run: no PostgreSQL server")
    server = history.Server(programs)
    server.start()
    engine = database.connect(f"{server.url}/postgres")
    try:
        server.stop()
        with pytest.raises(HistoryUnavailable, match="cannot be reached"):
            database.write(engine, lambda connection: connection.exec_driver_sql("SELECT 1"))
        server.start()
        assert database.read(engine, lambda connection: connection.exec_driver_sql("SELECT 1").scalar()) == 1
    finally:
        engine.dispose()
        server.remove()


def test_our_own_faults_are_not_dressed_up(path):
    engine = database.connect(f"sqlite:///{path}")
    with pytest.raises(sa.exc.OperationalError) as caught:
        database.read(engine, lambda connection: connection.exec_driver_sql("SELECT nothing FROM nowhere"))
    assert not isinstance(caught.value, WhetstoneError)
    engine.dispose()


def test_a_full_disk_is_said_and_nothing_half_written_is_left(tmp_path):
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'whetstone.db'}", tmp_path / "home")
    study = history.add_study(ledger)
    sa.event.listen(ledger.engine, "connect", lambda connection, _: connection.execute("PRAGMA max_page_count=60"))
    ledger.engine.dispose()

    def fill():
        for seed in range(2000):
            ledger.add_experiment(history.spec(study.id, seed), "ada")

    with pytest.raises(NoSpace, match="the disk of the history is full"):
        fill()
    runs = ledger.experiments()
    assert len(ledger.queue.states()) == len(runs)
    assert 0 < len(runs) < 2000
    ledger.close()
