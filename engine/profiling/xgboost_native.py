"""XGBoost has no profiler: blocks of its trees are timed."""

from __future__ import annotations

from engine.plugin import Runtime
from engine.profiling.profiler import Task
from engine.profiling.tree_blocks import block_costs
from engine.records import OperatorCost


def operators(runtime: Runtime, task: Task) -> list[OperatorCost]:
    """Time per block of boosting rounds, and of the call with its first round."""
    import xgboost

    booster = xgboost.Booster(params={"nthread": task.threads}, model_file=task.artefact.folder / "model.ubj")
    n_rounds = booster.num_boosted_rounds()
    n_trees = len(booster.get_dump(dump_format="json"))
    return block_costs(
        task,
        n_rounds,
        n_trees // n_rounds,
        lambda rows, n: booster.inplace_predict(rows, iteration_range=(0, n), validate_features=False),
    )
