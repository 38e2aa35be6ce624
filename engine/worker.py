"""The child of one attempt: `python -X faulthandler -m engine.worker FD_IN FD_OUT`. Speaks JSON lines, knows no SQL.

In, first line   {"experiment_id", "attempt", "spec", "study", "home"}
Out              {"ask": "build"}, answered by {"granted": "build"} once the machine is free for that phase
Out              {"phase": "build", "progress": 0.4, "message": "…"}
Out, last line   {"result": {parts of an Experiment}} or {"error": {"reason", "message"}}
What is printed to stdout and stderr is the log. The work itself is in `experiment.py`; models are opened in
confined grandchildren (`sandbox`), which have an own environment, folders and limits.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from engine.errors import Contained, WhetstoneError
from engine.experiment import run
from engine.records import ExperimentSpec, Study
from engine.workspace import Workspace


def main(fd_in: int, fd_out: int) -> int:
    """Run one attempt; 0 when a result was sent."""
    with os.fdopen(fd_in, "r") as orders, os.fdopen(fd_out, "w") as answers:

        def send(message: dict[str, Any]) -> None:
            answers.write(json.dumps(message) + "\n")
            answers.flush()

        def ask_phase(phase: str) -> None:
            send({"ask": phase})
            granted = json.loads(orders.readline()).get("granted")
            if granted != phase:
                raise RuntimeError(f"asked for the phase {phase!r}, was granted {granted!r}")

        def progress(phase: str, fraction: float, text: str) -> None:
            send({"phase": phase, "progress": round(min(1.0, max(0.0, fraction)), 4), "message": text})

        order = json.loads(orders.readline())
        try:
            result = run(
                ExperimentSpec.model_validate(order["spec"]),
                Study.model_validate(order["study"]),
                Workspace(Path(order["home"])),
                ask_phase=ask_phase,
                progress=progress,
            )
        except WhetstoneError as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            reason = error.reason if isinstance(error, Contained) else "error"
            send({"error": {"reason": "error" if reason == "exit" else reason, "message": str(error)}})
            return 1
        except Exception as error:
            traceback.print_exc()
            send({"error": {"reason": "error", "message": f"{type(error).__name__}: {error}"}})
            return 1
        send({"result": to_jsonable_python(result)})
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
