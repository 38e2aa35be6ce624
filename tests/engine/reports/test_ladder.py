from engine.records import Step
from engine.reports.ladder import ladder

TREES = Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.5})


def test_the_prefixes_of_a_chain_in_order(lab):
    base = lab.baseline(model_format="lightgbm")
    whole = lab.variant(TREES, "export.lightgbm_to_onnx", "export.onnx_optimise", speedup=6)
    two = lab.variant(TREES, "export.lightgbm_to_onnx", speedup=5)
    one = lab.variant(TREES, speedup=2, runtime="lightgbm_native")
    other = lab.variant(Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.25}))
    rows = ladder(lab.study(), [whole, other, base, two, one], whole.id)
    assert [row.experiment for row in rows] == [base.id, one.id, two.id, whole.id]


def test_a_prefix_that_was_not_run_has_no_row(lab):
    base, whole = lab.baseline(), lab.variant(TREES, "export.lightgbm_to_onnx")
    broken = lab.failed(TREES)
    assert [row.experiment for row in ladder(lab.study(), [base, broken, whole], whole.id)] == [base.id, whole.id]


def test_the_chain_s_own_runtime_is_preferred(lab):
    own = lab.variant(TREES, runtime="trees_binned")
    newer = lab.variant(TREES, runtime="lightgbm_native")
    whole = lab.variant(TREES, "x", runtime="trees_binned")
    assert [row.experiment for row in ladder(lab.study(), [own, newer, whole], whole.id)] == [own.id, whole.id]


def test_the_baseline_alone(lab):
    base = lab.baseline()
    assert [row.experiment for row in ladder(lab.study(), [base], base.id)] == [base.id]
