"""A history, the fake worker, and locks that no other test shares."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import psutil
import pytest

from engine.jobs.supervise import Setting, supervise
from storage.ledger import Ledger
from tests import history


@pytest.fixture(autouse=True)
def surroundings(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setenv("WHETSTONE_LOCK_DIR", str(tmp_path / "locks"))
    (tmp_path / "locks").mkdir(mode=0o700)


@pytest.fixture
def url(request, tmp_path):
    return history.new_database(getattr(request, "param", "sqlite"), tmp_path)


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


class Bench:
    """Ask the fake worker for something and supervise it here."""

    def __init__(self, ledger, study, tmp_path):
        self.ledger, self.study, self.tmp_path = ledger, study, tmp_path
        self.stop = threading.Event()
        self.setting = Setting(
            ledger.home, tmp_path / "locks", "of this test", self.stop, worker="fake_worker", lease_s=15
        )
        self.n_asked = 0

    def ask(self, do, *, timeout_s=None, memory_bytes=None, **params):
        self.n_asked += 1
        spec = history.spec(self.study.id, self.n_asked, do=do, **params)
        return self.ledger.add_experiment(spec, "ada", timeout_s=timeout_s, memory_bytes=memory_bytes)

    def claim(self):
        return self.ledger.queue.claim("test:1", 15, self.ledger.workspace)

    def run(self, do, **choices):
        """To its end; the experiment as the history has it then."""
        experiment_id = self.ask(do, **choices)
        supervise(self.ledger.queue, self.claim(), self.setting)
        return self.ledger.experiment(experiment_id)

    def start(self, do, **choices):
        """In a thread; returns the experiment's id and the thread."""
        experiment_id = self.ask(do, **choices)
        thread = threading.Thread(target=supervise, args=(self.ledger.queue, self.claim(), self.setting))
        thread.start()
        return experiment_id, thread

    def log(self, experiment_id):
        return [line.line for line in self.ledger.queue.log(experiment_id, limit=10_000)]


@pytest.fixture
def bench(ledger, study, tmp_path):
    bench = Bench(ledger, study, tmp_path)
    yield bench
    bench.stop.set()


def until(condition, timeout_s=30.0):
    """What `condition` returns once it is true."""
    deadline = time.monotonic() + timeout_s
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)
    return found


def alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
