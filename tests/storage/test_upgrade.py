"""P35: a history of an earlier release opens, a later one is refused, a failure changes nothing."""

from __future__ import annotations

import json
import multiprocessing
import shutil
import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from engine.errors import HistoryUnavailable, InvalidRequest, NoSpace, SchemaTooNew
from engine.records import summary_of
from storage import database
from storage.ledger import Ledger
from storage.schema import REVISION, metadata
from storage.upgrade import MIGRATIONS, revision, upgrade
from tests import history

OLD_ROWS = json.loads(Path(__file__).with_name("history_0001.json").read_text())
NEXT = f"{int(REVISION) + 1:04d}"
SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture(params=history.BOTH)
def url(request, tmp_path):
    return history.new_database(request.param, tmp_path)


@pytest.fixture
def engine(url):
    engine = database.connect(url)
    yield engine
    engine.dispose()


@pytest.fixture
def old(engine):
    """A history as the release with revision 0001 left it: made by its migration, filled with its rows."""
    upgrade(engine, target="0001")
    zone = "+00" if engine.dialect.name == "postgresql" else ""
    with engine.begin() as connection:
        for table, rows in OLD_ROWS.items():
            for row in rows:
                values = {name: f"{value}{zone}" if _is_time(name, value) else value for name, value in row.items()}
                columns, places = ", ".join(values), ", ".join(f":{name}" for name in values)
                connection.execute(sa.text(f"INSERT INTO {table} ({columns}) VALUES ({places})"), values)
    return engine


def _is_time(column, value):
    return value is not None and column.endswith(("_at", "_until"))


def at(engine):
    return database.read(engine, revision)


def scripts_with(tmp_path, name, body):
    """The migrations of this release and one more."""
    folder = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = f'import sqlalchemy as sa\nfrom alembic import op\nrevision = "{name}"\ndown_revision = "{REVISION}"\n'
    (folder / "versions" / f"{name}.py").write_text(text + "def upgrade():\n" + body)
    return folder


def test_the_migrations_build_the_tables_the_code_knows(engine):
    upgrade(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []


def test_the_revision_of_the_code_is_the_last_migration():
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == REVISION


def test_old_runs_open_after_the_upgrade(old, url, tmp_path):
    ledger = Ledger.open(url, tmp_path / "home")
    assert at(ledger.engine) == REVISION
    done, failed, queued = ledger.experiments()
    assert (done.status, failed.status, queued.status) == ("succeeded", "failed", "queued")
    assert done.measurements[1].p50_ms.value == 64.0
    assert failed.error.reason == "signal"
    assert ledger.annotation(done.id).note == "the one we ship"
    assert [line.line for line in ledger.queue.log(done.id)] == ["built", "timed"]
    assert ledger.summaries() == [summary_of(run) for run in (done, failed, queued)]
    with ledger.engine.connect() as connection:  # every one was filled
        assert connection.execute(sa.text("SELECT count(*) FROM experiment WHERE summary IS NULL")).scalar() == 0
    assert ledger.studies()[0].name == "flights of 2013"
    claimed = ledger.queue.claim("own:1", 15)
    assert claimed.experiment_id == queued.id
    assert ledger.queue.finish(queued.id, 1, "succeeded", experiment_record=history.finished(claimed))
    ledger.close()


def test_summaries_of_the_release_before_are_written_anew(old, url, tmp_path):
    upgrade(old, target="0003")
    with old.begin() as connection:
        left = {"left": '{"recipe":"original","p50_ms":1.0}'}
        connection.execute(sa.text("UPDATE experiment SET summary = :left"), left)
    ledger = Ledger.open(url, tmp_path / "home")
    with ledger.engine.connect() as connection:
        stored = connection.execute(sa.text("SELECT summary FROM experiment")).scalars().all()
    assert len(stored) == len(OLD_ROWS["experiment"])
    assert not [text for text in stored if text is None or 'p50_ms":1.0' in text]
    assert ledger.preferences("ada") == {}
    assert ledger.study_annotation(ledger.studies()[0].id) is None
    ledger.close()


def test_a_copy_is_made_before_the_upgrade(old, url, tmp_path):
    upgrade(old)
    n_rows = len(OLD_ROWS["experiment"])
    if old.dialect.name == "sqlite":
        with sqlite3.connect(tmp_path / "whetstone.db.backup-0001") as copy:
            assert copy.execute("SELECT version_num FROM alembic_version").fetchall() == [("0001",)]
            assert copy.execute("SELECT count(*) FROM experiment").fetchall() == [(n_rows,)]
        assert sorted(path.name for path in tmp_path.glob("*draft*")) == []
    else:
        with old.connect() as connection:
            count = sa.text("SELECT count(*) FROM whetstone_backup_0001.experiment")
            assert connection.execute(count).scalar() == n_rows


def test_a_new_history_needs_no_copy(url, tmp_path):
    Ledger.open(url, tmp_path / "home").close()
    assert list(tmp_path.glob("*backup*")) == []


def test_a_newer_history_is_refused_and_not_touched(engine, url, tmp_path):
    upgrade(engine)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    before = {path.name: path.read_bytes() for path in tmp_path.glob("whetstone.db")}
    with pytest.raises(SchemaTooNew, match=rf"revision 9999, this release knows up to {REVISION}.*update Whetstone"):
        Ledger.open(url, tmp_path / "home")
    assert {path.name: path.read_bytes() for path in tmp_path.glob("whetstone.db")} == before
    assert list(tmp_path.glob("*backup*")) == []
    assert at(engine) == "9999"


def test_a_database_of_another_program_is_refused(engine):
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE invoices (id INTEGER)"))
    with pytest.raises(InvalidRequest, match="tables of another program \\(invoices\\)"):
        upgrade(engine)


def _open(url, home, results):
    ledger = Ledger.open(url, home)
    results.put(len(ledger.summaries()))
    ledger.close()


@pytest.mark.parametrize("kind", ["old", "empty"])
def test_two_processes_may_start_at_once(request, kind, url, tmp_path):
    if kind == "old":
        request.getfixturevalue("old")
    results = SPAWN.Queue()
    openers = [SPAWN.Process(target=_open, args=(url, tmp_path / "home", results)) for _ in range(3)]
    for opener in openers:
        opener.start()
    n_rows = len(OLD_ROWS["experiment"]) if kind == "old" else 0
    assert [results.get(timeout=60) for _ in openers] == [n_rows] * 3
    for opener in openers:
        opener.join(30)


def test_a_migration_that_fails_changes_nothing(old, tmp_path):
    upgrade(old)
    scripts = scripts_with(
        tmp_path,
        NEXT,
        '    op.add_column("study", sa.Column("colour", sa.Text()))\n'
        "    op.execute(\"UPDATE study SET colour = 'red'\")\n"
        '    op.execute("SELECT nothing FROM nowhere")\n',
    )
    with pytest.raises(sa.exc.DBAPIError):
        upgrade(old, target=NEXT, scripts=scripts)
    assert at(old) == REVISION
    with old.connect() as connection:
        assert "colour" not in {column["name"] for column in sa.inspect(connection).get_columns("study")}


def test_a_table_others_refer_to_can_be_rebuilt(old, tmp_path):
    """SQLite alters a table by a copy; with foreign keys on, dropping the original fails once rows refer to it."""
    upgrade(old)
    scripts = scripts_with(
        tmp_path,
        NEXT,
        '    with op.batch_alter_table("experiment") as batch:\n'
        '        batch.alter_column("created_by", existing_type=sa.Text(), type_=sa.String(500))\n'
        '    with op.batch_alter_table("job") as batch:\n'
        '        batch.drop_constraint(op.f("ck_job_status"), type_="check")\n'
        '        batch.create_check_constraint(op.f("ck_job_status"), "status <> \'lost\'")\n',
    )
    upgrade(old, target=NEXT, scripts=scripts)
    with old.begin() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM job")).scalar() == len(OLD_ROWS["job"])
        with pytest.raises(sa.exc.IntegrityError):
            connection.execute(
                sa.text(
                    "INSERT INTO experiment SELECT 'x', 'nowhere', spec, created_at, created_by, "
                    "NULL, NULL, NULL FROM experiment LIMIT 1"
                )
            )  # foreign keys are on again


def test_rows_that_refer_to_nothing_undo_the_upgrade(tmp_path):
    engine = database.connect(history.new_database("sqlite", tmp_path))
    upgrade(engine)
    body = "    op.execute(\"INSERT INTO annotation VALUES ('ghost', '{}', '2026-01-01 00:00:00.000000')\")\n"
    with pytest.raises(HistoryUnavailable, match="1 rows that refer to nothing"):
        upgrade(engine, target=NEXT, scripts=scripts_with(tmp_path, NEXT, body))
    assert at(engine) == REVISION
    engine.dispose()


def test_without_a_copy_there_is_no_upgrade(tmp_path):
    engine = database.connect(history.new_database("sqlite", tmp_path))
    upgrade(engine, target="0001")
    (tmp_path / "whetstone.db.backup-0001").mkdir()
    with pytest.raises(NoSpace, match=r"could not be written .* was not touched"):
        upgrade(engine)
    assert at(engine) == "0001"
    assert [path.name for path in tmp_path.glob("*draft*")] == []
    engine.dispose()
