"""Who a runner is: two that cannot see each other's lock must not take each other's attempts for orphans."""

from __future__ import annotations

import subprocess
import sys

from engine.jobs.ownership import CODE_VERSION, database_key, owner
from storage.ledger import Ledger

ASK = "import sys; from engine.jobs.ownership import CODE_VERSION; print(CODE_VERSION)"


def test_the_owner_is_the_same_in_every_process_and_spelling(ledger, url, home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = Ledger.open("sqlite:///whetstone.db", home)
    assert owner(other) == owner(ledger)
    assert ":" not in owner(ledger)
    other.close()


def test_another_lock_folder_is_another_owner(ledger, monkeypatch, tmp_path):
    """Two containers or users on one machine: same machine id, same boot id, locks that do not meet."""
    here = owner(ledger)
    monkeypatch.setenv("WHETSTONE_LOCK_DIR", str(tmp_path / "other locks"))
    assert owner(ledger) != here


def test_another_home_is_another_owner(ledger, url, tmp_path):
    other = Ledger.open(url, tmp_path / "other home")
    assert owner(other) != owner(ledger)
    assert database_key(other) != database_key(ledger)
    other.close()


def test_a_home_that_moved_is_still_the_same(ledger, url, home, tmp_path):
    key = database_key(ledger)
    home.rename(tmp_path / "moved")
    moved = Ledger.open(url, tmp_path / "moved")
    assert database_key(moved) == key
    moved.close()


def test_the_code_version_is_that_of_the_files():
    assert subprocess.check_output([sys.executable, "-c", ASK], text=True).strip() == CODE_VERSION
