import pytest

from engine.records import Choice, ExperimentSummary, Recipe, Step
from engine.reports.compare import COLUMNS, choice_text, compare_rows, recipe_text


def test_the_columns_are_those_of_every_export():
    assert ",".join(COLUMNS) == (
        "experiment,recipe,runtime,device,status,batch_size,p50_ms,p95_ms,p99_ms,items_per_s,speedup,speedup_low,"
        "speedup_high,speedup_vs_export,speed_verdict,size_bytes,cost_per_1k,metric,metric_value,metric_drop,"
        "worst_slice,worst_slice_drop,quality_verdict,reason"
    )


def test_a_row_dumps_its_columns_and_nothing_else(lab):
    row = compare_rows(lab.study(), [lab.baseline()])[0]
    assert tuple(row.model_dump()) == COLUMNS


def test_baseline_first_with_speedup_one(lab):
    early = lab.variant("export.torch_to_onnx")
    base = lab.baseline()
    late = lab.variant("quantisation.float16")
    rows = compare_rows(lab.study(), [late, base, early])
    assert [row.experiment for row in rows] == [base.id, early.id, late.id]
    first = rows[0]
    assert first.is_baseline
    assert first.recipe == "original"
    assert (first.speedup, first.speedup_low, first.speedup_high, first.speed_verdict) == (1.0, None, None, None)
    assert (first.p50_ms, first.p95_ms, first.p99_ms, first.size_bytes) == (10, 15, 20, 4000)
    assert (first.metric_value, first.metric_drop, first.quality_verdict) == (0.9, 0.0, "exact")
    assert first.reason is None


def test_a_variant_is_compared_in_its_own_pairs(lab):
    rows = compare_rows(lab.study(), [lab.baseline(p50=11.0), lab.variant("quantisation.float16", speedup=4.0)])
    row = rows[1]
    assert row.speedup == pytest.approx(4.0)  # not 11 / 2.5: the baseline of the pairs counts
    assert (row.speedup_low, row.speedup_high) == pytest.approx((4 * 0.98, 4 * 1.02))
    assert row.speed_verdict == "faster"
    assert row.reason is None


def test_failed_and_waiting_rows_are_kept(lab):
    rows = compare_rows(
        lab.study(),
        [
            lab.baseline(),
            lab.failed("quantisation.int8_static"),
            lab.experiment("quantisation.float16", status="queued"),
        ],
    )
    assert [(row.status, row.reason) for row in rows[1:]] == [
        ("failed", "needs an NVIDIA GPU; none found"),
        ("queued", None),
    ]
    assert rows[1].p50_ms is rows[1].speedup is rows[1].size_bytes is rows[1].metric_value is None


def test_of_several_baselines_the_newest_that_succeeded_leads(lab):
    old, new = lab.baseline(), lab.baseline()
    broken = lab.failed()
    rows = compare_rows(lab.study(), [old, new, broken])
    assert [(row.experiment, row.is_baseline) for row in rows] == [
        (new.id, True),
        (old.id, False),
        (broken.id, False),
    ]


def test_a_baseline_that_failed_still_leads_with_its_reason(lab):
    rows = compare_rows(lab.study(), [lab.failed(message="the disk is full")])
    assert (rows[0].is_baseline, rows[0].reason, rows[0].speedup) == (True, "the disk is full", None)


def test_no_experiment_no_row(lab):
    assert compare_rows(lab.study(), []) == []


# ---------------------------------------------------------------- batch and cost
def test_the_primary_batch_is_the_default(lab):
    runs = [lab.baseline(batches=(1, 32)), lab.variant("x", batches=(1, 32))]
    assert [row.batch_size for row in compare_rows(lab.study(), runs)] == [1, 1]
    at_32 = compare_rows(lab.study(), runs, 32)
    assert [row.batch_size for row in at_32] == [32, 32]
    assert at_32[1].p50_ms == pytest.approx(10 * 32**0.5 / 4)


def test_a_batch_that_was_not_run_stays_empty(lab):
    rows = compare_rows(lab.study(), [lab.baseline(), lab.variant("x")], 64)
    assert [(row.p50_ms, row.items_per_s) for row in rows] == [(None, None), (None, None)]
    assert rows[1].speedup is None


def test_a_baseline_is_filled_from_the_pairs_of_a_variant(lab):
    rows = compare_rows(lab.study(), [lab.baseline(batches=(1,)), lab.variant("x", batches=(1, 32))], 32)
    assert rows[0].p50_ms == pytest.approx(10 * 32**0.5)


def test_cost_is_at_full_use_of_the_primary_batch(lab):
    study = lab.study(price_per_hour=40, currency="INR")
    base, variant = lab.baseline(p50=20.0, batches=(1, 32)), lab.variant("x", speedup=4.0, p50=20.0, batches=(1, 32))
    for batch in (1, 32):
        rows = compare_rows(study, [base, variant], batch)
        assert rows[0].cost_per_1k == pytest.approx(0.222222, abs=1e-6)  # 50 items/s at 40 an hour
        assert rows[1].cost_per_1k == pytest.approx(0.222222 / 4, abs=1e-6)
    assert compare_rows(lab.study(), [base])[0].cost_per_1k is None


# ---------------------------------------------------------------- against the plain export
def test_speedup_vs_export_is_a_ratio_of_ratios(lab):
    runs = [
        lab.baseline(),
        lab.variant("export.torch_to_onnx", speedup=2.0),
        lab.variant("export.torch_to_onnx", "quantisation.int8_dynamic", speedup=5.0),
    ]
    found = [row.speedup_vs_export for row in compare_rows(lab.study(), runs)]
    assert found == pytest.approx([0.5, 1.0, 2.5])


def test_the_first_plain_export_is_the_one(lab):
    plain = lab.variant(Step(lever="export.torch_to_onnx", params={"opset": 20}), speedup=2.0)  # defaults spelled out
    other = lab.variant(Step(lever="export.torch_to_onnx", params={"opset": 18}), speedup=4.0)
    rows = compare_rows(lab.study(), [lab.baseline(), other, plain])
    assert {row.experiment: row.speedup_vs_export for row in rows}[other.id] == pytest.approx(2.0)


@pytest.mark.parametrize("model_format", ["lightgbm", "onnx"])
def test_only_torch_has_a_plain_export(lab, model_format):
    runs = [lab.baseline(model_format=model_format), lab.variant("export.torch_to_onnx")]
    assert {row.speedup_vs_export for row in compare_rows(lab.study(), runs)} == {None}


def test_no_export_yet(lab):
    runs = [lab.baseline(), lab.failed("export.torch_to_onnx"), lab.variant("export.torch_to_onnx", "q")]
    assert {row.speedup_vs_export for row in compare_rows(lab.study(), runs)} == {None}


# ---------------------------------------------------------------- quality
def test_the_worst_slice_is_one_that_has_rows_enough(lab):
    slices = [("HA", 0.015, "within band"), ("OO", 0.3, "too few rows"), ("UA", 0.018, "within band")]
    row = compare_rows(lab.study(), [lab.baseline(), lab.variant("x", quality=lab.quality(slices=slices))])[1]
    assert (row.worst_slice, row.worst_slice_drop) == ("carrier = UA", 0.018)


def test_no_slice_to_name(lab):
    row = compare_rows(lab.study(), [lab.baseline(), lab.variant("x")])[1]
    assert (row.worst_slice, row.worst_slice_drop) == (None, None)


def test_rows_survive_json(lab):
    experiment = lab.variant("x")
    assert ExperimentSummary.model_validate_json(experiment.model_dump_json()) == experiment


# ---------------------------------------------------------------- words
def test_recipes_in_words():
    chain = Recipe(
        steps=(
            Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.33}),
            Step(lever="export.lightgbm_to_onnx"),
        )
    )
    assert recipe_text(chain) == "pruning.fewer_trees(keep_fraction=0.33) → export.lightgbm_to_onnx"
    assert recipe_text(Recipe()) == "original"
    assert choice_text(Choice(name="r", params={"threads": 2, "sizes": [1, 2], "exact": True})) == (
        "r(threads=2, sizes=[1 2], exact=True)"
    )
