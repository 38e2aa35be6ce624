"""The confined child: reads what is asked, confines itself, imports the function and answers.

Started by `engine.sandbox.start` as ``python -c … FD_IN FD_OUT FD_LIFE SYS_PATH``.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from engine.errors import Contained, NoSpace, WhetstoneError
from engine.sandbox import confine
from engine.sandbox.talk import Talk

OUT_OF_MEMORY = re.compile(
    r"(can'?t|cannot|could not|unable to|failed to) allocate|bad[_ ]alloc|out of memory|not enough memory",
    re.IGNORECASE,
)


def first_line(error: BaseException) -> str:
    """'TypeName: first line of the message'."""
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0][:500]}" if text else type(error).__name__


def _failure(error: BaseException) -> dict[str, str]:
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        error = NoSpace("the disk is full; free some space and try again")
    if isinstance(error, WhetstoneError):
        reason = error.reason if isinstance(error, Contained) else ""
        return {"class": type(error).__name__, "message": str(error), "reason": reason}
    out = isinstance(error, MemoryError) or OUT_OF_MEMORY.search(str(error))
    return {"class": "Contained", "message": first_line(error), "reason": "memory" if out else "exit"}


def _confine(settings: dict[str, Any], life: int) -> dict[str, bool]:
    confine.watch(life)
    if settings["cores"] is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, settings["cores"])
    held = confine.limit_resources(settings["limits"], settings["threads"])
    held["network namespace"] = confine.enter_namespaces(settings["read"], settings["write"])
    n_processes = settings["limits"]["n_processes"] + 4 * settings["threads"]
    held["process limit"] = confine.limit_processes(n_processes, own_count=held["network namespace"])
    held["dies with its parent"] = confine.die_with(settings["parent"])
    paths = {name: [Path(path) for path in settings[name]] for name in ("code", "read", "write")}
    return held | confine.close_doors(code=paths["code"], read=paths["read"], write=paths["write"])


def main(fd_in: int, fd_out: int, life: int) -> None:
    """Serve one request and end."""
    incoming, outgoing = os.fdopen(fd_in, "rb"), os.fdopen(fd_out, "wb")
    settings = json.loads(incoming.readline())
    talk = Talk(incoming, outgoing)
    module, _, function = settings["target"].partition(":")
    importlib.import_module(module.partition(".")[0])  # its folder is found now: the project root is unreadable later
    try:
        talk.write("held", _confine(settings, life))
        talk.write("result", getattr(importlib.import_module(module), function)(settings["request"], talk))
    except BaseException as error:  # noqa: BLE001 - whatever it was, the parent is told in one sentence
        talk.write("error", _failure(error))
        if not isinstance(error, WhetstoneError):
            sys.excepthook(type(error), error, error.__traceback__)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # no handlers of what was loaded, no waiting for its threads
