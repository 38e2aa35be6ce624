import pytest

from engine.profiling.profiler import Task
from engine.profiling.xgboost_native import operators
from engine.runtimes.xgboost_native import XgboostNative
from tests.model_zoo import XGBOOST, rows, xgboost_artefact


@pytest.mark.parametrize(
    ("name", "n_trees", "last"), [("xgb_regression", 8, "tree 8"), ("xgb_forest", 72, "trees 64 to 72")]
)
def test_blocks_hold_every_tree_once(tmp_path, name, n_trees, last):
    artefact = xgboost_artefact(name, tmp_path / "model")
    task = Task(artefact, lambda call: {"features": rows(XGBOOST[name][1])}, n_calls=5, threads=1, folder=tmp_path)
    found = operators(XgboostNative(), task)
    assert sum(cost.n for cost in found) == n_trees
    assert last in {cost.op for cost in found}
    assert sum(cost.share for cost in found) == pytest.approx(1)
