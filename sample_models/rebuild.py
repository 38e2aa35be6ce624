"""Make the prebuilt files again: `python -m sample_models.rebuild [NAME]`.

The same machine and library versions give the same bytes; elsewhere the nets and trees differ in the last digits.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

import sample_models
from engine.errors import WhetstoneError
from sample_models.sample import FILES

SUMS = FILES / "SHA256SUMS"


def rebuild_files(names: list[str]) -> None:
    """Rebuild the named samples in place and print the digest of each file."""
    for name in names:
        folder = sample_models.find(name).model.parent
        folder.mkdir(parents=True, exist_ok=True)
        sample_models.modules()[name].rebuild(folder)
    SUMS.write_text(digests())
    print(SUMS.read_text(), end="")


def digests() -> str:
    """One line per model and data file, as `sha256sum` writes them."""
    paths = [path for sample in sample_models.samples().values() for path in (sample.data, sample.model)]
    return "".join(f"{_sha256(path)}  {path.relative_to(FILES).as_posix()}\n" for path in paths if path.exists())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> int:
    """Entry point. Exits 1 with one line when a sample is unknown or a package is missing."""
    parser = argparse.ArgumentParser(prog="python -m sample_models.rebuild", description=__doc__)
    parser.add_argument("name", nargs="?", help="one sample; all of them when left out")
    name = parser.parse_args().name
    try:
        rebuild_files([name] if name else list(sample_models.modules()))
    except WhetstoneError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
