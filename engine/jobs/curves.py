"""Draws quality curves aside: in a process of its own that outlives whoever asked, kept in the workspace.

No experiment comes of it and nothing is timed, so it is no job of the queue. It shares the machine with builds and
scores and waits for a timing to end, as they do.

```
curves/<study>-<over>.json          the curve, once it is drawn
curves/<study>-<over>.state.json    how far it is, or why there is none
```
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from engine.curve import quality_curve
from engine.errors import WhetstoneError
from engine.jobs.certify import shared_machine
from engine.jobs.child import ROOT
from engine.jobs.locks import FileLock
from engine.jobs.submit import URL_VARIABLE
from engine.records import Study
from engine.records.base import Record
from engine.records.curve import Over, QualityCurve
from engine.workspace import Workspace
from storage.ledger import Ledger

TELL_S = 0.5


class CurveState(Record):
    """How far a curve is. message: what it does, or why it ended without a curve (then failed)."""

    fraction: float = 0.0
    message: str = ""
    failed: bool = False


def known_curve(workspace: Workspace, study: Study, over: Over) -> QualityCurve | None:
    """The curve that was drawn for the promise as it is now; None before."""
    path, band = _path(workspace, study.id, over), study.promise.band
    curve = QualityCurve.model_validate_json(path.read_text()) if path.exists() else None
    return curve if curve and (curve.metric, curve.max_drop) == (band.metric, band.max_drop) else None


def drawing(workspace: Workspace, study_id: str, over: Over) -> CurveState | None:
    """How far the process is, or why it ended; None when nobody asked."""
    path = _path(workspace, study_id, over, "state.")
    if not path.exists():
        return None
    state = CurveState.model_validate_json(path.read_text())
    lock = _lock(workspace, study_id, over)
    if state.failed or not lock.try_acquire():
        return state
    lock.release()
    if _path(workspace, study_id, over).exists():
        return None
    return state.model_copy(update={"failed": True, "message": "it was stopped before it had ended"})


def start(ledger: Ledger, study_id: str, over: Over) -> None:
    """Begin to draw, and return at once; does nothing while it is being drawn already."""
    workspace = Workspace(ledger.home)
    lock = _lock(workspace, study_id, over)
    if not lock.try_acquire():
        return
    assert lock.fd is not None
    _say(workspace, study_id, over, CurveState(message="starting"))
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.jobs.curves", "--home", str(ledger.home), study_id, over],
        stdin=subprocess.DEVNULL,
        cwd=ROOT,
        env=os.environ | {URL_VARIABLE: ledger.url},
        pass_fds=(lock.fd,),  # held for as long as the process lives
        start_new_session=True,
    )
    lock.release()
    threading.Thread(target=process.wait, name="reap the curve", daemon=True).start()


def draw(ledger: Ledger, study_id: str, over: Over) -> None:
    """Draw it and keep it; why it could not be drawn is kept as well."""
    workspace, said = Workspace(ledger.home), 0.0

    def tell(fraction: float, message: str) -> None:
        nonlocal said
        if time.monotonic() - said > TELL_S:
            said = time.monotonic()
            _say(workspace, study_id, over, CurveState(fraction=fraction, message=message))

    try:
        study = ledger.study(study_id)
        with shared_machine(tell):
            curve = quality_curve(study, workspace, over, progress=tell)
        workspace.write_text(_path(workspace, study_id, over), curve.model_dump_json(indent=1))
    except WhetstoneError as error:
        _say(workspace, study_id, over, CurveState(message=str(error), failed=True))


def _say(workspace: Workspace, study_id: str, over: Over, state: CurveState) -> None:
    workspace.write_text(_path(workspace, study_id, over, "state."), state.model_dump_json())


def _path(workspace: Workspace, study_id: str, over: Over, kind: str = "") -> Path:
    return workspace.root / "curves" / f"{study_id}-{over}.{kind}json"


def _lock(workspace: Workspace, study_id: str, over: Over) -> FileLock:
    return FileLock(_path(workspace, study_id, over).with_suffix(".lock"))


def main() -> int:
    """Entry of the process; its lock comes with it."""
    parser = argparse.ArgumentParser(description="Draw a quality curve of a study and keep it.")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("study")
    parser.add_argument("over", choices=("trees", "features"))
    options = parser.parse_args()
    ledger = Ledger.open(os.environ[URL_VARIABLE], options.home)
    try:
        draw(ledger, options.study, options.over)
    finally:
        ledger.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
