import pytest

from engine.profiling.lightgbm_native import operators
from engine.profiling.profiler import Task
from engine.runtimes.lightgbm_native import LightgbmNative
from tests.model_zoo import forest_artefact, rows


@pytest.mark.parametrize(
    ("name", "kind", "n_trees", "first", "last"),
    [
        ("binary", "missing", 12, "call, with tree 1", "trees 11 to 12"),
        ("multiclass", "categorical", 36, "call, with trees 1 to 3", "trees 31 to 36"),
    ],
)
def test_blocks_hold_every_tree_once(tmp_path, name, kind, n_trees, first, last):
    artefact = forest_artefact(name, tmp_path / "model")
    task = Task(artefact=artefact, inputs=lambda call: {"features": rows(kind)}, n_calls=5, threads=1, folder=tmp_path)
    found = operators(LightgbmNative(), task)
    assert sum(cost.n for cost in found) == n_trees
    assert {first, last} <= {cost.op for cost in found}
    assert all(cost.total_ms >= 0 for cost in found)
    assert sum(cost.share for cost in found) == pytest.approx(1)
