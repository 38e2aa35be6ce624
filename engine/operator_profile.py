"""Profile the original and the variant, one confined child each, after the timing and never inside it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import sandbox
from engine.data.stored import load_split
from engine.errors import WhetstoneError
from engine.plugin import Artefact, make, runtimes
from engine.profiling.profiler import Task, profiler
from engine.profiling.reading import reading
from engine.records import Choice, Manifest, OperatorCost, OperatorProfile, Workload
from engine.timing import timing_cores

if TYPE_CHECKING:
    from engine.sandbox import Talk

FEWEST_CALLS, MOST_CALLS = 3, 50
AIM_MS = 1500.0  # of calls per arm


def operator_profile(
    arms: Mapping[str, tuple[Artefact, Choice]], evalset: Path, workload: Workload, p50_ms: float
) -> OperatorProfile:
    """Before and after at one workload. p50_ms: of the slower arm, for how many calls there is time.

    A profile is a help, not a result: what goes wrong with it is said in `reading` and does not fail the run.
    """
    n_calls = int(min(MOST_CALLS, max(FEWEST_CALLS, AIM_MS / p50_ms)))
    costs: dict[str, tuple[OperatorCost, ...]] = {}
    why = ""
    for arm, (artefact, runtime) in arms.items():
        if profiler(runtime.name) is None:
            why = f"the runtime {runtime.name} has no operator profiler"
            continue
        try:
            costs[arm] = _one(artefact, runtime, evalset, workload, n_calls)
        except WhetstoneError as error:
            why = f"the {'original' if arm == 'baseline' else arm} could not be profiled: {error}"
    before, after = costs.get("baseline", ()), costs.get("variant", ())
    return OperatorProfile(
        before=before,
        after=after,
        batch_size=workload.batch_size,
        n_calls=n_calls,
        reading=why or reading(before, after),
    )


def _one(
    artefact: Artefact, runtime: Choice, evalset: Path, workload: Workload, n_calls: int
) -> tuple[OperatorCost, ...]:
    with tempfile.TemporaryDirectory(prefix="whetstone-profile-") as folder:
        answer = sandbox.run(
            "engine.operator_profile:profile",
            {
                "artefact": artefact.manifest.model_dump(mode="json"),
                "folder": str(artefact.folder),
                "runtime": runtime.model_dump(mode="json"),
                "evalset": str(evalset),
                "batch": workload.batch_size,
                "threads": workload.threads,
                "calls": n_calls,
                "out": folder,
            },
            read=[artefact.folder, evalset / "selection"],
            write=Path(folder),
            threads=workload.threads,
            cores=timing_cores(workload.threads),
        )
    return tuple(OperatorCost.model_validate(one) for one in answer["operators"])


def profile(request: dict[str, Any], talk: Talk) -> dict[str, Any]:
    """The confined side: call the model on real rows with its runtime's profiler on. Answers {"operators": [...]}."""
    inputs = load_split(Path(request["evalset"]), "selection").inputs
    n_rows = len(next(iter(inputs.values())))

    def rows(call: int) -> dict[str, np.ndarray]:
        batch = request["batch"]
        chosen = np.arange(call * batch, (call + 1) * batch) % n_rows
        return {name: np.ascontiguousarray(values[chosen]) for name, values in inputs.items()}

    choice = Choice.model_validate(request["runtime"])
    task = Task(
        artefact=Artefact(Manifest.model_validate(request["artefact"]), Path(request["folder"])),
        inputs=rows,
        n_calls=request["calls"],
        threads=request["threads"],
        folder=Path(request["out"]),
    )
    found = profiler(choice.name)
    assert found is not None, "the parent asks only where there is a profiler"
    costs = found(make(runtimes(), choice.name, choice.params), task)
    return {"operators": [cost.model_dump(mode="json") for cost in costs]}
