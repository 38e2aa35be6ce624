"""Rivals in environments of their own, made on first use under benchmarks/.rivals and never part of the product."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rival_worker import KEPT

FOLDER = Path(__file__).parent / ".rivals"
ROOT = Path(__file__).parents[1]
WORKER = Path(__file__).parent / "rival_worker.py"
ENVIRONMENTS = {
    "lleaves": ("lleaves==1.3.0", "llvmlite==0.44.0", "lightgbm==4.7.0", "numpy==2.3.5", "psutil==7.2.2"),
    "treelite": ("treelite==4.8.1", "tl2cgen==1.0.0", "lightgbm==4.7.0", "numpy==2.4.6"),
    "onnxmltools": (
        "onnxmltools==1.16.0", "onnxconverter-common==1.16.0", "onnx==1.23.2", "onnxruntime==1.32.0",
        "skl2onnx==1.20.0", "lightgbm==4.7.0", "numpy==2.4.6",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Arm:
    """One way to run the trees. environment: None for our own; most_rows: of a call that is still worth the wait."""

    name: str
    kind: str
    environment: str | None = None
    most_rows: int = 1 << 30


ARMS = (
    Arm("LightGBM", "lightgbm"),
    Arm("ours", "binned"),
    Arm("LightGBM, single-row call", "lightgbm_single", most_rows=1),
    Arm("ONNX Runtime, our export (f64)", "onnx"),
    Arm("ONNX Runtime, onnxmltools (f32)", "onnxmltools", "onnxmltools"),
    Arm("lleaves", "lleaves", "lleaves"),
    Arm("tl2cgen, quantised", "tl2cgen", "treelite"),
    Arm("treelite GTIL", "gtil", "treelite", most_rows=1024),
)


class Stopped(Exception):
    """A rival that does not install, build or answer here; the message is the reason."""


@dataclass
class Running:
    """An arm at work: a child that answers over pipes."""

    arm: Arm
    child: subprocess.Popen[str]
    log: Path
    facts: dict[str, Any] = field(default_factory=dict)

    def ns(self, rows: int, calls: int, start: int) -> float:
        """Processor nanoseconds of a call with so many rows."""
        return float(self._ask(rows=rows, calls=calls, start=start)["ns"])

    def answers(self, rows: int, out: Path) -> np.ndarray:
        """(rows, n_classes) raw scores of the first rows."""
        self._ask(rows=rows, start=0, out=str(out))
        found: np.ndarray = np.load(out)
        return found

    def close(self) -> None:
        """End the child."""
        assert self.child.stdin
        self.child.stdin.close()
        self.child.wait()

    def _ask(self, **question: Any) -> dict[str, Any]:
        assert self.child.stdin
        self.child.stdin.write(json.dumps(question) + "\n")
        self.child.stdin.flush()
        return _line(self.child, self.log)


def start(arm: Arm, folder: Path) -> Running:
    """Make the environment, build what the arm needs, open it. Raises Stopped with the reason."""
    python = sys.executable if arm.environment is None else str(_environment(arm.environment))
    facts: dict[str, Any] = {}
    log = folder / f"{arm.kind}.log"
    if arm.kind in KEPT:
        kept = folder / KEPT[arm.kind]
        if not kept.exists():
            child = _child(python, arm.kind, folder, log)
            (folder / f"{arm.kind}.json").write_text(json.dumps(_line(child, log)["built"]))
            child.wait()
        facts |= json.loads((folder / f"{arm.kind}.json").read_text())
        facts["bytes"] = kept.stat().st_size
    child = _child(python, arm.kind, folder, log)
    return Running(arm, child, log, facts | _line(child, log))


def _child(python: str, kind: str, folder: Path, log: Path) -> subprocess.Popen[str]:
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return subprocess.Popen(
        [python, str(WORKER), kind, str(folder)],
        env=os.environ | one | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log.open("w"),
        text=True,
    )


def _line(child: subprocess.Popen[str], log: Path) -> dict[str, Any]:
    assert child.stdout
    line = child.stdout.readline()
    if not line:
        reason = next((text for text in reversed(log.read_text().splitlines()) if text.strip()), "no reason given")
        raise Stopped(f"ended with {child.wait()}: {reason[:200]}")
    answer: dict[str, Any] = json.loads(line)
    return answer


def _environment(name: str) -> Path:
    """The interpreter of a rival's environment, made on first use."""
    python, stamp = FOLDER / name / "bin" / "python", FOLDER / name / "installed.txt"
    wanted = "\n".join(ENVIRONMENTS[name])
    if not stamp.exists() or stamp.read_text() != wanted:
        venv.create(FOLDER / name, with_pip=True, clear=True)
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *ENVIRONMENTS[name]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Stopped(f"does not install here: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
        stamp.write_text(wanted)
    return python
