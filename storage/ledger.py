"""The one door to the history: records in, records out."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from engine.errors import NoSpace
from storage import database
from storage.annotations import Annotations
from storage.certificates import Certificates
from storage.experiments import Experiments
from storage.models import Models
from storage.preferences import Preferences
from storage.queue import Queue
from storage.runners import Runners
from storage.schema import counter
from storage.studies import Studies
from storage.summary import Summaries
from storage.upgrade import upgrade


class Ledger(Models, Studies, Experiments, Summaries, Certificates, Annotations, Preferences):
    """The shared history. Threads may share one; a process opens its own.

    queue: the jobs behind the experiments; runners: who serves them; url, home: what it was opened with, absolute.
    """

    def __init__(self, engine: Engine, url: str, home: Path) -> None:
        super().__init__(engine, workspace_id(home))
        self.url = url
        self.home = home
        self.queue = Queue(engine)
        self.runners = Runners(engine)

    @classmethod
    def open(cls, url: str, home: Path) -> Ledger:
        """Connect, and bring an older history to this release (a backup copy first).

        Raises InvalidRequest, HistoryUnavailable, SchemaTooNew.
        """
        home.mkdir(parents=True, exist_ok=True)
        engine = database.connect(url)
        try:
            upgrade(engine)
            return cls(engine, database.normal_url(url), home.resolve())
        except BaseException:
            engine.dispose()
            raise

    def close(self) -> None:
        """Give the connections back."""
        self.engine.dispose()

    def version(self) -> int:
        """A number that grows with every change of results, studies and notes; progress does not move it."""
        query = sa.select(counter.c.value).where(counter.c.name == "version")
        return int(self._read(lambda connection: connection.execute(query).scalar_one()))


def workspace_id(home: Path) -> str:
    """Names the folder the artefacts lie in, wherever it is mounted: jobs run where their files are."""
    path = home / "workspace-id"
    try:
        if not path.exists():
            draft = home / f".workspace-id-{uuid4().hex}"
            draft.write_text(uuid4().hex)
            try:
                os.link(draft, path)  # the first one wins
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        return path.read_text().strip()
    except OSError as error:
        raise NoSpace(
            f"the workspace {home} cannot be written ({error.strerror}); set WHETSTONE_HOME elsewhere"
        ) from error
