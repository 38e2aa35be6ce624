"""What each kernel costs before its first answer: compiled, and loaded by a later process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
KERNELS = (
    "quickscorer:32", "quickscorer:64", "level_walk", "block:8:0:0:64", "block:8:0:0:512", "block:8:0:1:64",
    "block:8:0:1:512", "block:10:1:0:512",
)  # fmt: skip
_ONE = """
import sys, time
import numpy, numba
from engine.forest.binned.trial import answer_with
begun = time.process_time()
@numba.njit
def nothing(values):
    for i in range(values.shape[0]):
        values[i] *= 2
if sys.argv[2] == "compile":
    nothing(numpy.zeros(3))
started = time.process_time()
answer_with(sys.argv[1])
print(started - begun, time.process_time() - started)
"""


def compile_times() -> list[str]:
    """Markdown lines. Every figure from a fresh process."""
    lines = [
        "### What a kernel costs before its first answer",
        "Processor seconds, once per machine and kernel, when its batch range is first used; later processes load it.",
        "numba's own start, paid once by a process that compiles anything, is apart.",
        "",
        "| kernel | compile | of numba's start before it | load |",
        "|---|---|---|---|",
    ]
    for kernel in KERNELS:
        with tempfile.TemporaryDirectory() as cache:
            start_s, compile_s = _run(kernel, "compile", cache)
            _, load_s = _run(kernel, "load", cache)
        lines.append(f"| {kernel} | {compile_s:.2f} s | {start_s:.2f} s | {load_s:.2f} s |")
    return lines


def _run(kernel: str, how: str, cache: str) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-c", _ONE, kernel, how],
        cwd=ROOT,
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        check=True,
        capture_output=True,
        text=True,
    )
    first, second = done.stdout.split()
    return float(first), float(second)
