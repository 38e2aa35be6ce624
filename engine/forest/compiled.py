"""The compiled kernels of binned forests, kept beside their source and shared read-only.

Compiling takes about a second per kernel and machine. `warm` does it in a process of its own that opens no model; a
process that does open one works on a private copy (`private_copy`) and cannot change what others will run.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

_SOURCE = Path(__file__).parent / "serve"
_ROOT = Path(__file__).parents[2]
_WARM = "import sys; from engine.forest.compiled import compile_here; compile_here(sys.argv[1], sys.argv[2:])"


@cache
def folder() -> Path:
    """Where the compiled kernels of this source and this numba lie; numba itself keys them by processor."""
    digest = hashlib.sha256(version("numba").encode())
    for path in sorted(_SOURCE.glob("*.py")):
        digest.update(path.read_bytes())
    return _SOURCE / "__pycache__" / f"compiled-{digest.hexdigest()[:16]}"


@cache
def warm(kernels: tuple[str, ...], machine: str) -> None:
    """Compile what this machine has not compiled yet, in a child process that opens no model.

    kernels: as the notes of a binned forest name them, such as "block:8:0:1" or "quickscorer:32". Does nothing where
    the folder cannot be written to (an installation that is read-only): each process then compiles for itself.
    """
    if not _can_keep():
        return
    missing = [name for name in kernels if not _done(name, machine).exists()]
    if missing:
        environment = os.environ | {"NUMBA_CACHE_DIR": str(folder())}
        subprocess.run([sys.executable, "-c", _WARM, machine, *missing], cwd=_ROOT, env=environment, check=True)


def _can_keep() -> bool:
    try:
        folder().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder()):
            return True
    except OSError:
        return False


def compile_here(machine: str, kernels: list[str]) -> None:
    """In the child of `warm`: compile each kernel for float64 rows by answering rows with a forest that needs it."""
    from engine.forest.binned.trial import answer_with

    for name in kernels:
        answer_with(name)
        _done(name, machine).touch()


@cache
def private_copy() -> tempfile.TemporaryDirectory[str]:
    """A copy of the compiled kernels that this process may write to, made numba's cache; gone with the process."""
    copy = tempfile.TemporaryDirectory(prefix="whetstone-kernels-")
    if folder().is_dir():
        shutil.copytree(folder(), copy.name, dirs_exist_ok=True)
    os.environ["NUMBA_CACHE_DIR"] = copy.name
    import numba

    numba.config.CACHE_DIR = copy.name
    return copy


def _done(name: str, machine: str) -> Path:
    return folder() / f"{name.replace(':', '-')}-{machine}.done"
