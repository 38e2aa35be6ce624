"""Run one claimed attempt: one fresh process, watched and killed from here, its end stored under its number."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from engine.jobs.attempt import Attempt
from engine.jobs.locks import PhaseLocks
from engine.jobs.reporter import Reporter
from engine.records import Experiment, Failure, Status
from storage.queue import Claimed, Queue

LOG = logging.getLogger("whetstone.jobs")
WORKER = "engine.worker"
LEASE_S = 15.0
STATUS: dict[str, Status] = {"cancelled": "cancelled", "interrupted": "interrupted"}  # every other reason: failed


@dataclass(frozen=True)
class Setting:
    """What is the same for all attempts of a runner.

    owner: marks the processes of its attempts, so that leftovers are recognised; stop: set when all must end now.
    """

    home: Path
    locks: Path
    owner: str
    stop: threading.Event
    worker: str = WORKER
    lease_s: float = LEASE_S


def supervise(queue: Queue, claimed: Claimed, setting: Setting) -> Status | None:
    """Run the attempt to its end and store what came of it. None: it was not ours any more, nothing was stored.

    Called in the thread that owns the process: the process dies with that thread.
    """
    started = time.monotonic()
    key = f"{claimed.experiment_id}/{claimed.attempt}"
    folder = temporary(setting) / key.replace("/", "-")
    reporter = Reporter(queue, claimed.experiment_id, claimed.attempt, setting.lease_s)
    locks = PhaseLocks(setting.locks)
    try:
        attempt = Attempt(claimed, reporter, locks, setting.stop)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            attempt.run(setting.worker, _order(claimed, setting.home), f"{setting.owner}/{key}", folder)
        except OSError as error:
            attempt.failure = Failure(reason="error", message=f"the process could not be started: {error}")
        locks.release()  # storing needs no machine
        record, failure = _judge(claimed, attempt, time.monotonic() - started)
        status = STATUS.get(failure.reason, "failed") if failure else "succeeded"
        stored = reporter.finish(status, record, failure, setting.stop)
        LOG.info("experiment %s: %s%s", key, status, "" if stored else ", not stored: the attempt is not ours any more")
        return status if stored else None
    finally:
        locks.release()
        reporter.close()
        shutil.rmtree(folder, ignore_errors=True)


def temporary(setting: Setting) -> Path:
    """Where the attempts of this owner keep their temporary files; a runner that starts finds it left over."""
    return setting.home / "tmp" / f"attempts-{setting.owner[:12]}"


def _order(claimed: Claimed, home: Path) -> dict[str, Any]:
    return {
        "experiment_id": claimed.experiment_id,
        "attempt": claimed.attempt,
        "spec": claimed.spec.model_dump(mode="json"),
        "study": claimed.study.model_dump(mode="json"),
        "home": str(home),
    }


def _judge(claimed: Claimed, attempt: Attempt, duration_s: float) -> tuple[Experiment | None, Failure | None]:
    if attempt.parts is None:
        return None, attempt.failure
    own = {
        "id": claimed.experiment_id,
        "spec": claimed.spec,
        "status": "succeeded",
        "created_at": claimed.created_at,
        "created_by": claimed.created_by,
        "attempt": claimed.attempt,
        "duration_s": duration_s,
        "retry_of": claimed.retry_of,
    }
    try:
        return Experiment.model_validate({**attempt.parts, **own}), None
    except (ValidationError, TypeError) as error:
        LOG.exception("experiment %s: the worker sent an unusable result", claimed.experiment_id)
        first = str(error).splitlines()[0]
        return None, Failure(reason="error", message=f"the worker sent a result that is no experiment: {first}")
