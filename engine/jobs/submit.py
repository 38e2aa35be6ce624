"""What users do with jobs: start, wait, cancel, retry. The work is done by a runner that outlives the caller."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from engine.jobs.child import ROOT
from engine.jobs.locks import FileLock, lock_folder
from engine.jobs.ownership import CODE_VERSION, database_key, owner
from engine.records import TERMINAL, Experiment, ExperimentSpec, JobState, Status
from storage.ledger import Ledger

URL_VARIABLE = "WHETSTONE_DATABASE_URL"
OUTPUT_BYTES = 1 << 20
LOOK_S = 0.3
REVIVE_S = 5.0


def submit(
    ledger: Ledger,
    spec: ExperimentSpec,
    created_by: str,
    *,
    priority: int = 0,
    timeout_s: float | None = None,
    memory_bytes: int | None = None,
) -> str:
    """Queue an experiment and see that somebody runs it; returns its id, or that of the same one still going on."""
    experiment_id = ledger.add_experiment(
        spec, created_by, priority=priority, timeout_s=timeout_s, memory_bytes=memory_bytes
    )
    ensure_runner(ledger)
    return experiment_id


def wait(ledger: Ledger, experiment_id: str, on_state: Callable[[JobState], None] = lambda state: None) -> Experiment:
    """Wait until the experiment has ended; `on_state` hears of every change. A lost runner is replaced meanwhile."""
    last: JobState | None = None
    revived = time.monotonic()
    while True:
        state = ledger.queue.state(experiment_id)
        if state != last:
            on_state(state)
            last = state
        if state.status in TERMINAL:
            return ledger.experiment(experiment_id)
        if time.monotonic() - revived > REVIVE_S:
            ensure_runner(ledger)
            revived = time.monotonic()
        time.sleep(LOOK_S)


def cancel(ledger: Ledger, ref: str) -> Status:
    """Cancel: at once while queued, within a second while running. Returns the status now. Raises NotFound."""
    status = ledger.queue.cancel(ledger.experiment(ref).id)
    if status not in TERMINAL:
        ensure_runner(ledger)  # somebody must hear of it
    return status


def retry(ledger: Ledger, ref: str, created_by: str) -> str:
    """Run the same again as a new experiment; returns its id. Raises Conflict while the old one goes on, NotFound."""
    experiment_id = ledger.retry_experiment(ref, created_by)
    ensure_runner(ledger)
    return experiment_id


def ensure_runner(ledger: Ledger, *options: str) -> None:
    """See that a runner of this code serves this history and home; returns at once. `options` go to a new runner.

    Safe against a runner that is about to end for want of work: it looks into the queue once more after it has given
    up the lock we look at. The new runner inherits the lock from us, so two callers cannot start two.
    """
    lock = FileLock(runner_lock(ledger))
    if lock.try_acquire():
        _spawn(ledger, options, lock)
    elif ledger.runners.code_version(owner(ledger)) not in {CODE_VERSION, None}:
        _spawn(ledger, options, None)  # it waits until the old one has finished its attempts


def runner_lock(ledger: Ledger) -> Path:
    """The file whose lock the runner of this history and home holds."""
    return lock_folder() / f"runner-{database_key(ledger)}.lock"


def _spawn(ledger: Ledger, options: tuple[str, ...], lock: FileLock | None) -> None:
    """Start a runner that belongs to nobody; the URL travels in the environment, where only this user can read it."""
    logs = ledger.home / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    path = logs / "runner.out"
    full = path.exists() and path.stat().st_size > OUTPUT_BYTES
    handed = ["--lock-fd", str(lock.fd)] if lock else []
    with path.open("wb" if full else "ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "engine.jobs.runner", "--home", str(ledger.home), *handed, *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=ROOT,
            env=os.environ | {URL_VARIABLE: ledger.url},
            pass_fds=(lock.fd,) if lock and lock.fd is not None else (),
            start_new_session=True,
        )
    if lock:
        lock.release()
    threading.Thread(target=process.wait, name="reap the runner", daemon=True).start()
