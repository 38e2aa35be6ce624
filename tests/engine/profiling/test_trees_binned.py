import numpy as np
import pytest

from engine.profiling.profiler import Task
from engine.profiling.trees_binned import _ways, operators
from engine.runtimes.trees_binned import TreesBinned
from tests.model_zoo import FORESTS, binned_artefact, booster, rows


@pytest.mark.parametrize("n_rows", [1, 100])
@pytest.mark.parametrize("name", ["binary", "categorical"])
def test_the_call_is_split_into_its_parts(tmp_path, name, n_rows):
    artefact = binned_artefact(name, tmp_path)
    table = rows(FORESTS[name][1])[:n_rows]
    task = Task(artefact=artefact, inputs=lambda call: {"features": table}, n_calls=9, threads=1, folder=tmp_path)
    found = {cost.op: cost for cost in operators(TreesBinned(), task)}
    assert found.keys() == {"call and checks", "values to bins", "trees 1 to 12", "average and link"}
    assert found["trees 1 to 12"].n == 12
    assert sum(cost.share for cost in found.values()) == pytest.approx(1)
    assert found["call and checks"].total_ms > 0


@pytest.mark.parametrize("n_rows", [1, 100])
@pytest.mark.parametrize("name", ["categorical", "deep categorical"])
def test_what_is_left_out_is_left_out(tmp_path, name, n_rows):
    """Without trees the kernels answer 0; and the parts that stay still write what they wrote before."""
    from engine.forest.binned import pack
    from engine.forest.lightgbm_text import parse
    from engine.forest.serve import Model
    from tests.engine.forest.test_binned import trained

    if name == "categorical":
        text, table = booster(name).model_to_string(), rows(FORESTS[name][1])[:n_rows]
    else:
        trees, table = trained(num_leaves=90, categories=(1, 3))
        text, table = trees.model_to_string(), table[:n_rows]
    model, out = Model(dict(pack(parse(text)).arrays)), np.full((n_rows, 1), np.nan)
    whole, kernel, raw, bins, nothing = _ways(model, np.ascontiguousarray(table), out)
    right = whole()
    for run in (bins, nothing):
        run()
        np.testing.assert_array_equal(out, 0.0)
    for run, expected in ((raw, model.predict(table, raw=True)), (kernel, right)):
        run()
        np.testing.assert_array_equal(out[:, 0], expected)
