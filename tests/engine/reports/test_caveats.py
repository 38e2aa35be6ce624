"""Case P22: INT8 is not the same on machines with other instruction sets, so rows say where they come from."""

import pytest

from engine.records import Workload
from engine.reports.compare import compare_rows

VNNI = {"processor": "A", "cpu_flags": ["avx2", "avx512f", "avx512_vnni"]}
PLAIN = {"processor": "B", "cpu_flags": ["avx2", "avx512f"]}
ARM = {"processor": "C", "cpu_flags": ["asimddp", "i8mm"]}
EXPORT, INT8 = "export.torch_to_onnx", "quantisation.int8_static"


def rows_of(lab, here, there, **study):
    return compare_rows(
        lab.study(**study),
        [
            lab.baseline(environment=here),
            lab.variant(EXPORT, speedup=2.0, environment=here),
            lab.variant(EXPORT, INT8, speedup=4.0, environment=there),
        ],
    )


@pytest.mark.parametrize(
    ("there", "difference"),
    [
        (PLAIN, "without avx512_vnni"),
        (ARM, "with asimddp i8mm, without avx2 avx512_vnni avx512f"),
    ],
)
def test_other_flags_are_said_and_not_divided(lab, there, difference):
    base, export, int8 = rows_of(lab, VNNI, there)
    assert (base.reason, export.reason) == (None, "2.0x of the 3x goal")
    assert int8.reason == f"measured on other CPU flags than the original: {difference}"
    assert int8.caveats == (int8.reason,)
    assert int8.speedup == pytest.approx(4.0)  # of its own pairs, on its own machine
    assert int8.speedup_vs_export is None  # would divide two machines
    assert export.speedup_vs_export == pytest.approx(1.0)


def test_the_same_flags_say_nothing(lab):
    _, _, int8 = rows_of(lab, VNNI, VNNI | {"processor": "another model", "load_average": 3})
    assert int8.reason is None
    assert int8.speedup_vs_export == pytest.approx(2.0)


def test_a_run_that_did_not_record_its_machine_is_not_accused(lab):
    assert rows_of(lab, VNNI, {})[2].reason is None
    assert rows_of(lab, {}, VNNI)[2].reason is None


def test_it_stands_beside_what_the_promise_lacks(lab):
    assert rows_of(lab, VNNI, PLAIN, factor=9.0)[2].reason == (
        "4.0x of the 9x goal; measured on other CPU flags than the original: without avx512_vnni"
    )


def test_a_goal_judged_on_processor_time_says_so(lab):
    run = lab.variant(INT8, speedup=4.0)
    tail = tuple(one.model_copy(update={"clock": "cpu"}) if one.quantile == 0.99 else one for one in run.comparisons)
    run = run.model_copy(update={"comparisons": tail})
    assert compare_rows(lab.study(kind="p99"), [lab.baseline(), run])[1].reason == (
        "p99 compared on processor time: the machine was disturbed"
    )
    assert compare_rows(lab.study(kind="p50"), [lab.baseline(), run])[1].reason is None


def test_figures_are_those_of_the_studys_threads(lab):
    two = Workload(threads=2)
    run = lab.variant(INT8, speedup=4.0)
    other = run.model_copy(
        update={
            "measurements": tuple(one.model_copy(update={"workload": two}) for one in run.measurements),
            "comparisons": tuple(one.model_copy(update={"workload": two}) for one in run.comparisons),
        }
    )
    row = compare_rows(lab.study(), [lab.baseline(), other])[1]
    assert row.p50_ms is row.speedup is row.cost_per_1k is None
    assert row.reason == "not measured at batch 1 with 1 thread, where the goal is set"
    assert compare_rows(lab.study(workload=two), [lab.baseline(), other])[1].speedup == pytest.approx(4.0)
