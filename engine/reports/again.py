"""How to ask the same of the command line again."""

from __future__ import annotations

import shlex
from typing import Any

from engine.records import ExperimentSpec


def command(spec: ExperimentSpec) -> str:
    """The line for a shell that queues this run once more: chain, runtime, batch sizes, threads and preset."""
    parts = ["python", "-m", "engine", "run", spec.study_id]
    for step in spec.recipe.steps:
        parts += ["--step", spelled(step.lever, step.params)]
    parts += ["--runtime", spelled(spec.runtime.name, spec.runtime.params)]
    parts += ["--batch", ",".join(str(size) for size in dict.fromkeys(one.batch_size for one in spec.workloads))]
    parts += ["--threads", ",".join(str(count) for count in dict.fromkeys(one.threads for one in spec.workloads))]
    return shlex.join([*parts, "--preset", spec.preset])


def spelled(name: str, params: dict[str, Any]) -> str:
    """A plug-in as `--step` and `--runtime` read it: pruning.fewer_trees:keep_fraction=0.3."""
    listed = ",".join(f"{key}={_value(value)}" for key, value in params.items() if value is not None)
    return f"{name}:{listed}" if listed else name


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "(" + "".join(f"{part}," for part in value) + ")"
    return repr(value) if isinstance(value, float) else str(value)
