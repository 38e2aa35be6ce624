"""`make bench`: run every benchmark and write benchmarks/RESULTS.md. About half an hour, nearly all of it `aa`.

`python -m benchmarks imports overhead` runs some and replaces their sections only.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import aa, certify, history, imports, overhead, pages, parquet, simulation, trees
from engine.environment import describe

RESULTS = Path(__file__).parent / "RESULTS.md"
PARTS = {
    "imports": imports.table,
    "history": history.table,
    "pages": pages.table,
    "overhead": overhead.table,
    "certify": certify.table,
    "parquet": parquet.table,
    "trees": trees.table,
    "simulation": simulation.table,
    "aa": aa.table,
}
HEAD = [
    "# Benchmark results",
    "",
    "Written by `make bench`, section by section. Medians with the 5th and 95th percentile of the repetitions. What is",
    "compared ran in turn on the same machine.",
]
SECTION = re.compile(r"<!-- (\w+) -->\n(.*?)\n<!-- end -->", re.DOTALL)


def main(names: list[str]) -> None:
    """Measure the named parts (all without a name) and write them down; other sections stay as they are."""
    unknown = set(names) - set(PARTS)
    if unknown:
        sys.exit(f"no benchmark is called {sorted(unknown)[0]!r}; there are {', '.join(PARTS)}")
    for name in names or PARTS:
        made = "\n".join(section(name))
        print(made, flush=True)
        sections = dict(SECTION.findall(RESULTS.read_text())) if RESULTS.exists() else {}  # another part may run too
        sections[name] = made
        text = [*HEAD, *(line for part in PARTS if part in sections for line in _marked(part, sections[part]))]
        RESULTS.write_text("\n".join(text) + "\n")


def section(name: str) -> list[str]:
    """The table of one part under its heading, with the machine and the moment it ran."""
    machine = describe()
    heading, *lines = PARTS[name]()
    libraries = ", ".join(f"{library} {version}" for library, version in machine["libraries"].items())
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}, {machine['processor']}, {machine['usable_cores']} cores, load average "
        f"{machine['load_average']}, Python {machine['python']}, {libraries}."
    )
    return [heading, "", *lines, "", f"<sub>{about}</sub>"]


def _marked(name: str, text: str) -> list[str]:
    return ["", f"<!-- {name} -->", text, "<!-- end -->"]


if __name__ == "__main__":
    main(sys.argv[1:])
