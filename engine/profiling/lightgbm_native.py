"""LightGBM has no profiler: blocks of its trees are timed."""

from __future__ import annotations

from engine.plugin import Runtime
from engine.profiling.profiler import Task
from engine.profiling.tree_blocks import block_costs
from engine.records import OperatorCost


def operators(runtime: Runtime, task: Task) -> list[OperatorCost]:
    """Time per block of boosting rounds, and of the call with its first round."""
    import lightgbm

    booster = lightgbm.Booster(model_file=task.artefact.folder / "model.txt")
    return block_costs(
        task,
        booster.current_iteration(),
        booster.num_model_per_iteration(),
        lambda rows, n_rounds: booster.predict(rows, num_iteration=n_rounds, num_threads=task.threads),
    )
