"""Tells the database how an attempt goes, twice a second, without ever holding up whoever watches the process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable

from engine.errors import HistoryUnavailable, NoSpace
from engine.records import Experiment, Failure, Status
from storage.queue import Phase, Queue

LOG = logging.getLogger("whetstone.jobs")
EVERY_S = 0.5
BACK_OFF_S = 8.0
LINES_PER_REPORT = 200
LINES_PER_ATTEMPT = 20_000
TROUBLE = (HistoryUnavailable, NoSpace)  # passes by; the attempt goes on meanwhile


class Reporter:
    """`tell` what is new; read `cancelled` and `lost` (the attempt is not ours any more); `finish` once."""

    def __init__(self, queue: Queue, experiment_id: str, attempt: int, lease_s: float) -> None:
        self.cancelled = False
        self.lost = False
        self._queue, self._experiment_id, self._attempt, self._lease_s = queue, experiment_id, attempt, lease_s
        self._lock = threading.Lock()
        self._phase: Phase | None = None
        self._progress: float | None = None
        self._message: str | None = None
        self._lines: list[str] = []
        self._n_lines = 0
        self._n_left_out = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"report {experiment_id}", daemon=True)
        self._thread.start()

    def tell(
        self,
        phase: Phase | None = None,
        progress: float | None = None,
        message: str | None = None,
        lines: Iterable[str] = (),
    ) -> None:
        """Note what is new; None: as before."""
        with self._lock:
            self._phase = phase or self._phase
            self._progress = self._progress if progress is None else progress
            self._message = self._message if message is None else message
            for line in lines:
                if len(self._lines) < LINES_PER_REPORT and self._n_lines < LINES_PER_ATTEMPT:
                    self._lines.append(line)
                    self._n_lines += 1
                else:
                    self._n_left_out += 1

    def finish(self, status: Status, record: Experiment | None, failure: Failure | None, stop: threading.Event) -> bool:
        """End the attempt in the database, trying until it answers or `stop` is set; False when it was not ours."""
        self.close()
        lines = self._take_lines()
        wait_s = EVERY_S
        while True:
            try:
                return self._queue.finish(
                    self._experiment_id,
                    self._attempt,
                    status,
                    experiment_record=record,
                    failure=failure,
                    log_lines=lines,
                )
            except TROUBLE as error:
                LOG.warning("experiment %s: the result waits for the history: %s", self._experiment_id, error)
                if stop.wait(wait_s):
                    return False
                wait_s = min(2 * wait_s, BACK_OFF_S)

    @property
    def broken(self) -> bool:
        """True when reports have ended for a reason nobody foresaw; the log has it."""
        return not self._stop.is_set() and not self._thread.is_alive()

    def close(self) -> None:
        """Report no more."""
        self._stop.set()
        self._thread.join()

    def _work(self) -> None:
        wait_s = 0.0
        while not self._stop.wait(wait_s) and not self.lost:
            try:
                self._report()
                wait_s = EVERY_S
            except TROUBLE as error:
                LOG.warning("experiment %s: no report: %s", self._experiment_id, error)
                wait_s = min(2 * max(wait_s, EVERY_S), BACK_OFF_S)

    def _report(self) -> None:
        with self._lock:
            phase, progress, message = self._phase, self._progress, self._message
        lines = self._take_lines()
        try:
            answer = self._queue.touch(
                self._experiment_id,
                self._attempt,
                self._lease_s,
                phase=phase,
                progress=progress,
                message=message,
                log_lines=lines,
            )
        except TROUBLE:
            with self._lock:
                self._lines[:0] = lines
            raise
        self.lost = answer is None
        self.cancelled = self.cancelled or bool(answer)

    def _take_lines(self) -> list[str]:
        with self._lock:
            lines, self._lines = self._lines, []
            if self._n_left_out:
                lines.append(f"[{self._n_left_out} more lines were printed and not kept]")
                self._n_left_out = 0
        return lines
