"""The runner: serves the queue of one history and home on this machine, and outlives whoever started it.

`WHETSTONE_DATABASE_URL=… python -m engine.jobs.runner --home HOME`. One per machine, history and home: it holds a lock.
A runner of other code lets its forerunner finish its attempts, then takes over. SIGTERM interrupts all attempts.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import signal
import sys
import threading
import time
from logging.handlers import RotatingFileHandler
from pathlib import Path

from ulid import ULID

from engine.errors import WhetstoneError
from engine.jobs import processes
from engine.jobs.locks import FileLock, lock_folder
from engine.jobs.ownership import CODE_VERSION, owner
from engine.jobs.reporter import TROUBLE
from engine.jobs.submit import URL_VARIABLE, runner_lock
from engine.jobs.supervise import LEASE_S, WORKER, Setting, supervise, temporary
from storage.ledger import Ledger
from storage.queue import Claimed
from storage.schema import REVISION

LOG = logging.getLogger("whetstone.jobs")
POLL_S = 0.2
LOOK_AROUND_S = 2.0  # for expired leases and for a newer runner
ASK_S = 0.5
BACK_OFF_S = 5.0
LOG_BYTES, N_LOGS = 1 << 20, 3


class Runner:
    """Claims jobs into its slots until it has to go. Only while it holds the lock."""

    def __init__(self, ledger: Ledger, setting: Setting, slots: int, idle_exit_s: float) -> None:
        self._ledger, self._setting, self._slots, self._idle_exit_s = ledger, setting, slots, idle_exit_s
        self._id = f"{owner(ledger)}:{ULID()}"
        self._attempts: dict[threading.Thread, str] = {}
        self._retiring = False
        self._looked_around = 0.0
        self._busy_at = time.monotonic()

    def serve(self) -> bool:
        """Run jobs. True: ended for want of work; False: asked to end."""
        self._take_over()
        while not self._setting.stop.is_set():
            self._attempts = {thread: key for thread, key in self._attempts.items() if thread.is_alive()}
            try:
                started = self._turn()
            except TROUBLE as error:
                LOG.warning("the history does not answer: %s", error)
                self._setting.stop.wait(BACK_OFF_S)
                continue
            now = time.monotonic()
            if self._attempts:
                self._busy_at = now
            elif self._retiring or now - self._busy_at > self._idle_exit_s:
                break
            if not started:
                self._setting.stop.wait(POLL_S)
        for thread in self._attempts:
            thread.join()
        self._leave()
        return not self._retiring and not self._setting.stop.is_set()

    def _turn(self) -> bool:
        """Look around, and start a job if there is one; True when one was started."""
        queue, workspace = self._ledger.queue, self._ledger.workspace
        if time.monotonic() - self._looked_around > LOOK_AROUND_S:
            queue.reap(spare=set(self._attempts.values()))
            self._retiring = self._ledger.runners.must_retire(self._id, REVISION)
            self._looked_around = time.monotonic()
        if self._retiring or len(self._attempts) >= self._slots or not queue.has_queued(workspace):
            return False
        claimed = queue.claim(self._id, self._setting.lease_s, workspace)
        if claimed is None:
            return False
        LOG.info("experiment %s/%s: started", claimed.experiment_id, claimed.attempt)
        thread = threading.Thread(target=self._run, args=(claimed,), name=f"attempt {claimed.experiment_id}")
        self._attempts[thread] = claimed.experiment_id
        thread.start()
        return True

    def _run(self, claimed: Claimed) -> None:
        supervise(self._ledger.queue, claimed, self._setting)

    def _take_over(self) -> None:
        """We hold the lock, so whatever an earlier runner of ours left running is an orphan now."""
        n_left = processes.end_marked(lambda mark: mark.startswith(f"{self._setting.owner}/"))
        n_lost = self._ledger.queue.interrupt_own(owner(self._ledger))
        self._ledger.runners.register(self._id, CODE_VERSION, REVISION)
        shutil.rmtree(temporary(self._setting), ignore_errors=True)
        LOG.info("runner %s serves %s", os.getpid(), self._ledger.home)
        if n_lost or n_left:
            LOG.warning("left over and ended: %d attempts, %d processes", n_lost, n_left)

    def _leave(self) -> None:
        try:
            self._ledger.runners.remove(self._id)
        except TROUBLE as error:
            LOG.warning("could not sign off: %s", error)


def serve(ledger: Ledger, lock: FileLock, setting: Setting, slots: int, idle_exit_s: float) -> None:
    """Serve until there is no work, a newer runner asks, or `setting.stop` is set. `lock` is held at the call."""
    while Runner(ledger, setting, slots, idle_exit_s).serve():
        lock.release()
        # Who queued a job before we let go may have seen the lock held and started nobody.
        if not ledger.queue.has_queued(ledger.workspace) or not lock.try_acquire():
            break
    lock.release()
    LOG.info("runner %s ends", os.getpid())


def acquire(ledger: Ledger, lock: FileLock, stop: threading.Event) -> bool:
    """Become the runner; False when there is one of this code, or somebody else waits already to replace another."""
    if lock.try_acquire():
        return True
    successor = FileLock(lock.path.with_suffix(".next"))
    if not successor.try_acquire():
        return False
    try:
        while not lock.try_acquire():
            if ledger.runners.code_version(owner(ledger)) == CODE_VERSION or stop.is_set():
                return False
            ledger.runners.ask_to_retire(owner(ledger), CODE_VERSION)
            stop.wait(ASK_S)
        return True
    finally:
        successor.release()


def _log_to(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    handler = RotatingFileHandler(folder / "runner.log", maxBytes=LOG_BYTES, backupCount=N_LOGS)
    logging.basicConfig(
        level=logging.INFO, handlers=[handler], format="%(asctime)s %(process)d %(levelname)s %(message)s"
    )
    threading.excepthook = lambda args: LOG.error(
        "thread %s ended", args.thread.name if args.thread else "?", exc_info=args.exc_value
    )


def main() -> int:
    """Entry of the process."""
    parser = argparse.ArgumentParser(description="Serve the jobs of one history.")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--idle-exit-s", type=float, default=60.0)
    parser.add_argument("--lease-s", type=float, default=LEASE_S)
    parser.add_argument("--worker", default=WORKER)
    parser.add_argument("--lock-fd", type=int)
    options = parser.parse_args()
    _log_to(options.home / "logs")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        ledger = Ledger.open(os.environ[URL_VARIABLE], options.home)
        lock = FileLock(runner_lock(ledger), options.lock_fd)
        if not acquire(ledger, lock, stop):
            return 0
        setting = Setting(ledger.home, lock_folder(), owner(ledger), stop, options.worker, options.lease_s)
        serve(ledger, lock, setting, options.slots, options.idle_exit_s)
    except WhetstoneError as error:
        LOG.error("the runner ends: %s", error)  # noqa: TRY400  # a sentence, no trace
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
