"""How long the catalogue of levers and runtimes takes to import, in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.figures import cell

CODE = """
import sys, time
started = time.perf_counter()
import engine.plugin as plugin
plugin.levers(), plugin.runtimes()
print(1000 * (time.perf_counter() - started), "torch" in sys.modules)
"""


def table() -> list[str]:
    """Markdown lines."""
    answers = [subprocess.check_output([sys.executable, "-c", CODE], text=True).split() for _ in range(15)]
    torch = "yes" if any(answer[1] == "True" for answer in answers) else "no"
    times = cell([float(answer[0]) for answer in answers], "ms")
    return [
        "## Catalogue",
        "| what | measured | limit |",
        "|---|---|---|",
        f"| import all levers and runtimes (15 fresh interpreters) | {times} | 500 ms |",
        f"| torch imported by it | {torch} | no |",
    ]
