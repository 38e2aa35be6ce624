"""Values that are awkward to store come back, or are refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage import database
from storage.columns import Document, SafeText, UtcTime, storable
from tests import history

TABLE = sa.Table(
    "odd",
    sa.MetaData(),
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("moment", UtcTime),
    sa.Column("text", SafeText),
    sa.Column("document", Document),
)


@pytest.fixture(params=history.BOTH)
def engine(request, tmp_path):
    engine = database.connect(history.new_database(request.param, tmp_path))
    database.write(engine, TABLE.metadata.create_all)
    yield engine
    engine.dispose()


def stored(engine, **values):
    def insert_and_read(connection):
        key = connection.execute(TABLE.insert().values(**values).returning(TABLE.c.id)).scalar()
        return connection.execute(sa.select(TABLE).where(TABLE.c.id == key)).one()

    return database.write(engine, insert_and_read)


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=5, minutes=30)), timezone(-timedelta(hours=11))])
def test_a_moment_comes_back_aware_and_to_the_microsecond(engine, zone):
    moment = datetime(2026, 3, 29, 1, 59, 59, 999999, tzinfo=zone)
    found = stored(engine, moment=moment).moment
    assert found == moment
    assert found.utcoffset() == timedelta(0)


def test_a_moment_without_a_zone_is_refused(engine):
    with pytest.raises(sa.exc.StatementError, match="needs a time zone"):
        stored(engine, moment=datetime(2026, 1, 1))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(text=st.text(st.characters(exclude_categories=())), document=JSON)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_text_and_documents_come_back(engine, text, document):
    row = stored(engine, text=text, document=document)
    assert row.text == storable(text)
    assert row.document == document


def test_only_what_cannot_be_stored_is_replaced():
    assert storable("a\x00b\ud800 é ☕ 𝄞 \x01") == "a\ufffdb\ufffd é ☕ 𝄞 \x01"
