"""Why a run did not succeed, and what to do next, in words; from its failure and the last lines of its log."""

from __future__ import annotations

import re
from collections.abc import Iterable

from engine.records import Failure, Record

ENDED = re.compile(r"^(?:\w+\.)*(?P<kind>[A-Z]\w*): ")  # how the worker's last word begins
FORESEEN: dict[str, tuple[str, str]] = {  # our errors -> likely cause, next step
    "DoesNotFit": (
        "a step cannot handle this model, or needs something that this machine lacks",
        "leave that step out or put the step it needs before it, then queue the new chain",
    ),
    "ParityFailed": (
        "the converted model does not answer as the original does",
        "leave the conversion out, or run the result in another runtime",
    ),
    "InvalidRecipe": (
        "the chain or one of its parameters is not allowed",
        "use it as a start and correct the parameter",
    ),
    "InvalidRequest": ("a value is out of its range", "use it as a start and correct the value"),
    "BadModel": ("the model's file cannot be used as it is", "export the model again and bring it as a new study"),
    "BadData": ("the evaluation set cannot be used as it is", "correct the rows and bring them in a new study"),
    "Mismatch": ("model and evaluation set do not belong together", "bring the pair that belongs together"),
    "NotFound": (
        "files of the study are not on this machine any more",
        "bring the same model and data again; they get the same identity, then run it again",
    ),
    "NoSpace": ("the disk is full", "free some space, then run it again; finished steps are kept"),
}
BY_REASON: dict[str, tuple[str, str]] = {
    "signal": (
        "compiled code of a library crashed, which Python cannot catch",
        "run it again; if it crashes again, leave out its last step or choose another runtime",
    ),
    "timeout": (
        "more work than the time limit allows; batch sizes, threads and effort decide how long timing takes",
        "use it as a start with fewer batch sizes or the quick effort",
    ),
    "memory": (
        "the model, what it computes in between and the rows together need more memory than the limit",
        "use it as a start with smaller batch sizes, or end what else needs memory and run it again",
    ),
    "cancelled": ("somebody pressed Stop", "run it again whenever you like; finished steps are kept"),
    "interrupted": (
        "the job runner ended before the run did: the machine was restarted, or Whetstone was stopped or updated",
        "run it again; finished steps are kept",
    ),
}
UNFORESEEN = (
    "a library raised an error that was not foreseen",
    "read the last lines of the log, then leave out the last step or choose another runtime",
)
SILENT = ("the process said no more than this", "read the log, then run it again")


class Diagnosis(Record):
    """cause: what probably lies behind it; todo: the next step. Both without a capital and a full stop."""

    cause: str
    todo: str


def diagnose(failure: Failure, log: Iterable[str] = ()) -> Diagnosis:
    """The likely cause and the next step. log: lines of the attempt's log, oldest first."""
    kind = _kind(failure, log)
    cause, todo = BY_REASON.get(failure.reason) or FORESEEN.get(kind) or (UNFORESEEN if kind else SILENT)
    return Diagnosis(cause=cause, todo=todo)


def _kind(failure: Failure, log: Iterable[str]) -> str:
    """The name of the error, "" when unknown: the log has it before the message, unforeseen ones in the message."""
    head = failure.message.partition("\n")[0]
    for line in (*reversed(list(log)), head):
        found = ENDED.match(line)
        if found and head and head in line:
            return found["kind"]
    return ""
