"""Outputs of a model on one split, computed once in a confined child and kept by content."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from engine import sandbox
from engine.environment import cpu_flags, library_version, machine_id
from engine.errors import BadModel
from engine.plugin import Artefact, runtimes
from engine.records import Choice, SplitName
from engine.workspace import Workspace


def outputs(
    artefact: Artefact,
    runtime: Choice,
    evalset: Path,
    split: SplitName,
    workspace: Workspace,
    *,
    threads: int,
    n_rows: int | None = None,
    progress: Callable[[float, str], None] = lambda fraction, text: None,
) -> dict[str, np.ndarray]:
    """Output name -> (n, ...) for the rows of a split, in order; from the store where they were computed before.

    Raises BadModel when the same rows give other answers the second time, Contained when the child was stopped.
    """
    kept = workspace.root / "outputs" / _key(artefact, runtime, evalset, split, threads, n_rows)
    if not kept.is_dir():
        with workspace.draft() as draft:
            out = draft / "out"
            out.mkdir()
            compute(artefact, runtime, evalset, split, out, threads=threads, n_rows=n_rows, progress=progress)
            kept.parent.mkdir(exist_ok=True)
            if not kept.is_dir():
                out.rename(kept)
    return _load(artefact, kept)


def compute(
    artefact: Artefact,
    runtime: Choice,
    evalset: Path,
    split: SplitName,
    out: Path,
    *,
    threads: int,
    n_rows: int | None = None,
    progress: Callable[[float, str], None] = lambda fraction, text: None,
) -> dict[str, np.ndarray]:
    """As `outputs`, always anew, written into the folder `out`."""
    runtimes()[runtime.name].prepare(artefact.manifest, machine_id())
    answer = sandbox.run(
        "engine.children:score",
        {
            "artefact": artefact.manifest.model_dump(mode="json"),
            "folder": str(artefact.folder),
            "runtime": runtime.model_dump(mode="json"),
            "evalset": str(evalset),
            "split": split,
            "threads": threads,
            "n_rows": n_rows,
            "out": str(out),
        },
        read=[artefact.folder, evalset / split],
        write=out,
        threads=threads,
        on_message=lambda message: progress(message["progress"], message["message"]),
        log=sys.stderr,
    )
    if not answer["steady"]:
        raise BadModel(
            "the same rows give other answers the second time (dropout or batch statistics are active); "
            "export the model in evaluation mode: model.eval()"
        )
    return _load(artefact, out)


def require_finite(output: np.ndarray, what: str) -> None:
    """Raise BadModel when an output (n, ...) holds NaN or infinity, with the rows counted."""
    if output.dtype.kind != "f":
        return
    bad = ~np.isfinite(output).reshape(len(output), -1).all(axis=1)
    if bad.any():
        raise BadModel(
            f"{what} gives NaN or infinity for {int(bad.sum()):,} of {len(bad):,} rows (first: row "
            f"{int(bad.argmax()) + 1} of the split); check the model and how its inputs are filled"
        )


def _load(artefact: Artefact, folder: Path) -> dict[str, np.ndarray]:
    names = [spec.name for spec in artefact.manifest.signature.outputs]
    return {name: np.load(folder / f"{i}.npy", mmap_mode="r", allow_pickle=False) for i, name in enumerate(names)}


def _key(artefact: Artefact, runtime: Choice, evalset: Path, split: str, threads: int, n_rows: int | None) -> str:
    libraries = {name: library_version(name) for name in runtimes()[runtime.name].libraries}
    body = [artefact.manifest.id, runtime.model_dump(mode="json"), libraries, evalset.name, split, threads, n_rows]
    return hashlib.sha256(json.dumps([*body, sorted(cpu_flags())], sort_keys=True).encode()).hexdigest()
