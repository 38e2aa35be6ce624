"""What the dashboard and the command line both do when somebody says Certify: at once, not through the queue.

It takes seconds, and whoever asks waits for the answer. The machine is shared with builds and scores and waits for a
timing to end, as a job would.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engine.certification import check_eligible, issue
from engine.jobs.locks import PhaseLocks, lock_folder
from engine.records import Certificate
from engine.workspace import Workspace
from storage.certificates import no_more
from storage.ledger import Ledger

POLL_S = 0.2
Progress = Callable[[float, str], None]


def certify(
    ledger: Ledger,
    workspace: Workspace,
    experiment_ref: str,
    created_by: str,
    progress: Progress = lambda fraction, text: None,
) -> Certificate:
    """The certificate of an experiment; the one it has already, or a new one that counts against its promise.

    Raises NotFound, InvalidRequest or BadData for what cannot be certified, and Conflict when new rows are needed; then
    nothing is counted.
    """
    experiment = ledger.experiment(experiment_ref)
    known = ledger.certificate_of(experiment.id)
    if known is not None:
        return known
    study = ledger.study(experiment.spec.study_id)
    promise_sha256 = ledger.promise_hash(study.id)
    check_eligible(experiment, study, promise_sha256)
    limit = study.promise.band.n_certificates
    if len(ledger.certificates(study.id)) >= limit:
        raise no_more(limit)
    with shared_machine(progress):
        new = issue(
            experiment,
            study,
            workspace,
            promise_frozen_at=ledger.promise_frozen_at(study.id),
            promise_sha256=promise_sha256,
            created_by=created_by,
            progress=progress,
        )
    return ledger.add_certificate(new)


@contextmanager
def shared_machine(progress: Progress) -> Iterator[None]:
    """Hold the machine as scoring does: beside other work, but never beside a timing."""
    locks = PhaseLocks(lock_folder())
    try:
        while not locks.try_acquire("score"):
            progress(0.0, "waiting for the machine: something is being timed")
            time.sleep(POLL_S)
        yield
    finally:
        locks.release()
