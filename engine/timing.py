"""Starts the processes that are timed: each arm confined, both arms of a pair pinned to the same cores."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import sandbox
from engine.environment import machine_id, usable_cores
from engine.errors import DoesNotFit
from engine.plugin import Artefact, runtimes
from engine.records import Choice, Signature
from engine.sandbox import Child


@dataclass(frozen=True)
class Launcher:
    """launch(arm, pair, threads) -> a conversation with a fresh process that holds that arm's model open."""

    arms: Mapping[str, tuple[Artefact, Choice]]
    signature: Signature
    evalset: Path
    target: str = "engine.children:serve_arm"

    @contextmanager
    def __call__(self, arm: str, pair: int, threads: int) -> Iterator[Child]:
        """A fresh process for one arm of one pair; ended when the block is left."""
        artefact, runtime = self.arms[arm]
        runtimes()[runtime.name].prepare(artefact.manifest, machine_id())
        request: dict[str, Any] = {
            "artefact": artefact.manifest.model_dump(mode="json"),
            "folder": str(artefact.folder),
            "runtime": runtime.model_dump(mode="json"),
            "signature": self.signature.model_dump(mode="json"),
            "evalset": str(self.evalset),
            "threads": threads,
        }
        with sandbox.conversation(
            self.target,
            request,
            read=[artefact.folder, self.evalset / "selection"],
            threads=threads,
            cores=timing_cores(threads),
        ) as child:
            yield child


def timing_cores(threads: int) -> list[int] | None:
    """The last `threads` cores this process may use; None where the system has no affinity.

    Raises DoesNotFit when more threads are asked for than cores may be used.
    """
    if threads > usable_cores():
        raise DoesNotFit(
            f"{threads} threads asked for, {usable_cores()} cores may be used here (affinity and container quota)"
        )
    if not hasattr(os, "sched_getaffinity"):
        return None
    return sorted(os.sched_getaffinity(0))[-threads:]
