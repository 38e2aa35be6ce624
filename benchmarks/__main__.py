"""`make bench`: run every benchmark and write benchmarks/RESULTS.md. About two minutes."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import history, imports, overhead
from engine.environment import describe

RESULTS = Path(__file__).parent / "RESULTS.md"
PARTS = {"imports": imports.table, "history": history.table, "overhead": overhead.table}


def main(names: list[str]) -> None:
    """Measure the named parts (all without a name) and write them down."""
    unknown = set(names) - set(PARTS)
    if unknown:
        sys.exit(f"no benchmark is called {sorted(unknown)[0]!r}; there are {', '.join(PARTS)}")
    machine = describe()
    libraries = ", ".join(f"{name} {version}" for name, version in machine["libraries"].items())
    text = [
        "# Benchmark results",
        "",
        f"`make bench` on {datetime.now(UTC):%Y-%m-%d}: {machine['processor']}, {machine['usable_cores']} cores,",
        f"load average {machine['load_average']}, Python {machine['python']};",
        f"{libraries}.",
        "",
        "Medians with the 5th and 95th percentile of the repetitions. What is compared ran in turn in one process.",
    ]
    for name in names or PARTS:
        text += ["", *PARTS[name]()]
    RESULTS.write_text("\n".join(text) + "\n")
    print(RESULTS.read_text())


if __name__ == "__main__":
    main(sys.argv[1:])
