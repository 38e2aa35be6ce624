"""A ledger with one study on SQLite and on PostgreSQL."""

import pytest

from storage.ledger import Ledger
from tests import history


@pytest.fixture(params=history.BOTH)
def url(request, tmp_path):
    return history.new_database(request.param, tmp_path)


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def ledger(url, home):
    opened = Ledger.open(url, home)
    yield opened
    opened.close()


@pytest.fixture
def study(ledger):
    return history.add_study(ledger)
