import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from engine.measurement.flags import flags
from engine.measurement.presets import PRESETS
from engine.measurement.summary import comparisons, summarise, summarise_alone
from engine.measurement.timings import Round, Served, Stop, Timings
from engine.records import Choice, FileRef, Workload

ARMS = {"baseline": ("a" * 64, Choice(name="torch_eager")), "variant": ("b" * 64, Choice(name="onnxruntime_cpu"))}
FILE = FileRef(path="samples/x.arrow", sha256="0" * 64, size_bytes=1)


def test_the_stored_figures(timings_of, tmp_path):
    ms = [np.arange(1, 101) * 1e6] * 3
    workload = Workload(batch_size=8)
    timings = timings_of({"baseline": ms, "variant": [pair / 2 for pair in ms]}, workload)
    parts = summarise(timings, ARMS, tmp_path, lambda path: FILE)
    (base,), (variant,) = parts["baselines"], parts["measurements"]
    assert base.artefact_id == "a" * 64
    assert variant.runtime.name == "onnxruntime_cpu"
    assert (base.n_calls, base.n_pairs, base.n_warm_up) == (300, 3, 60)
    assert base.p50_ms.value == 50
    assert base.p95_ms.value == 95
    assert base.p99_ms is None  # 300 calls; 500 are needed
    assert base.items_per_s == pytest.approx(8 * 300 / (3 * 5.050))
    assert (base.load_ms, base.cold_start_ms, base.peak_bytes) == (11, 50, 1002)
    assert (base.prepare_ms, base.model_ms, base.post_ms) == (0.001, 2.0, 0.003)
    assert base.samples == FILE
    assert base.flags == ()


def test_comparisons_keep_the_floors(timings_of):
    ms = [np.arange(1, 101) * 1e6] * 3
    found = {one.quantile: one for one in comparisons(timings_of({"baseline": ms, "variant": ms}))}
    assert set(found) == {0.5, 0.95, None}
    assert {one.verdict for one in found.values()} == {"no difference"}


def test_a_machine_that_slows_down_for_a_while_meets_both_arms(timings_of):
    """Six of ten rounds of one arm fall into the slow time, four of the other: medians of all calls differ by 40 %."""
    slow = {"baseline": (4, 5, 6, 7, 8, 9), "variant": (5, 6, 7, 8)}
    made = timings_of({arm: [[1e6]] * 3 for arm in slow})
    rounds = tuple(
        replace(one, number=number, total_ns=np.full(5, 1_400_000 if number in slow[one.arm] else 1_000_000))
        for one in made.rounds
        for number in range(10)
    )
    timings = replace(made, rounds=rounds)
    pooled = [np.median(timings.calls_ns(arm, Workload())) for arm in ("baseline", "variant")]
    assert pooled[1] / pooled[0] == pytest.approx(1 / 1.4)
    assert next(one for one in comparisons(timings) if one.quantile == 0.5).ratio == 1


def test_long_pairs_compare_p99(timings_of):
    rng = np.random.default_rng(0)
    base = [rng.lognormal(0, 0.1, 400) * 1e6 for _ in range(3)]
    found = {one.quantile: one for one in comparisons(timings_of({"baseline": base, "variant": [x / 4 for x in base]}))}
    assert set(found) == {0.5, 0.95, 0.99, None}
    assert found[0.99].ratio == pytest.approx(0.25, abs=1e-4)
    assert found[0.99].verdict == "faster"
    assert found[None].ratio == pytest.approx(0.25, abs=1e-4)


def test_a_tail_made_by_the_scheduler_is_compared_on_processor_time(timings_of, tmp_path):
    """P99 of the wall is three times higher in one arm, that of the processor the same."""
    wall = {"baseline": [np.linspace(1e6, 2e6, 200)] * 3, "variant": [np.linspace(1e6, 6e6, 200)] * 3}
    cpu = {arm: [np.linspace(1e6, 2e6, 200)] * 3 for arm in wall}
    calm = {one.quantile: one for one in comparisons(timings_of(wall, cpu_each=cpu))}
    assert {one.clock for one in calm.values()} == {"wall"}
    assert calm[0.99].verdict == "slower"
    disturbed = timings_of(wall, cpu_each=cpu, n_involuntary=5)
    found = {one.quantile: one for one in comparisons(disturbed)}
    assert {q: one.clock for q, one in found.items()} == {0.5: "wall", 0.95: "cpu", 0.99: "cpu", None: "wall"}
    assert found[0.99].verdict == "no difference"
    assert found[0.99].ratio == pytest.approx(1)
    (variant,) = summarise(disturbed, ARMS, tmp_path, lambda path: FILE)["measurements"]
    assert variant.p99_ms.value == pytest.approx(6, rel=0.02)  # what a user waits stays the wall's
    assert variant.p99_cpu_ms.value == pytest.approx(2, rel=0.02)


def test_a_disturbed_tail_without_processor_times_stays_on_the_wall(timings_of):
    timings = timings_of({"baseline": [np.full(200, 1e6)] * 3, "variant": [np.full(200, 1e6)] * 3}, n_involuntary=5)
    assert {one.clock for one in comparisons(timings)} == {"wall"}


def test_several_threads_have_no_processor_tail(timings_of):
    calls = {"baseline": [np.full(200, 1e6)] * 3, "variant": [np.full(200, 1e6)] * 3}
    timings = timings_of(calls, Workload(threads=2), cpu_each=calls, cpu_fraction=0.4, n_involuntary=5)
    assert {one.clock for one in comparisons(timings)} == {"wall"}


def test_rate_floor_and_utilisation(timings_of, tmp_path):
    workload = Workload(batch_size=4)
    calls = {"baseline": [np.full(50, ns) for ns in (1.9e6, 2.0e6, 2.1e6)]}
    timings = timings_of(calls, workload, cpu_fraction=0.8, floor_ns=30e3)
    (alone,) = summarise_alone(timings, ARMS, tmp_path, lambda path: FILE)
    rate = alone.items_per_s_interval
    assert rate.value == pytest.approx(2000, rel=0.01)
    assert rate.low < 1905
    assert rate.high > 2105
    assert alone.floor_ms == pytest.approx(0.03)
    assert alone.cpu_utilisation == pytest.approx(0.8)
    assert alone.accelerator_utilisation is None


def test_figures_of_other_threads_stay_apart(tmp_path):
    launch = {1: 0.0, 2: 5e6}
    rounds, served = [], []
    for threads, load_ms in launch.items():
        one = Workload(threads=threads)
        rounds += [
            Round(pair, "baseline", one, 0, np.full(10, threads * 10**6), 1, 1, 1, 10**7, 10**7, 0) for pair in (0, 1)
        ]
        served += [
            Served(pair, "baseline", threads, load_ms, 1.0, 10 * threads, {one: 5}, {one: 1.0}) for pair in (0, 1)
        ]
    workloads = (Workload(threads=1), Workload(threads=2))
    timings = Timings(PRESETS["quick"], 0, ("baseline",), workloads, 0.0, 2, tuple(rounds), tuple(served))
    found = summarise_alone(timings, ARMS, tmp_path, lambda path: FILE)
    assert [(one.p50_ms.value, one.load_ms, one.peak_bytes) for one in found] == [(1, 0, 10), (2, 5e6, 20)]


@pytest.mark.parametrize("n_calls", [8, 30, 99])
def test_too_few_calls_have_no_tail(timings_of, tmp_path, n_calls):
    calls = [np.linspace(1e6, 2e6, n_calls // 2)] * 2
    (alone,) = summarise_alone(timings_of({"baseline": calls}), ARMS, tmp_path, lambda path: FILE)
    assert alone.p95_ms is None
    assert alone.p99_ms is None
    assert alone.p50_ms.value <= 2


def test_raw_samples_round_trip(timings_of, tmp_path):
    calls = {"baseline": [[5, 6, 7], [8, 9]], "variant": [[1, 2, 3], [4, 5]]}
    timings = timings_of(calls, Workload(batch_size=32, threads=2), start=64, n_pool_rows=100)
    kept = {}

    def store(path):
        kept["table"] = pa.ipc.open_file(path).read_all()
        return FILE

    summarise(timings, ARMS, tmp_path, store)
    table = kept["table"]
    assert table.column_names == ["pair", "arm", "batch", "threads", "round", "row", "ns", "cpu_ns"]
    assert table.to_pydict() == {
        "pair": [0, 0, 0, 1, 1] * 2,
        "arm": ["baseline"] * 5 + ["variant"] * 5,
        "batch": [32] * 10,
        "threads": [2] * 10,
        "round": [0] * 10,
        "row": [64, 96, 28, 64, 96] * 2,
        "ns": [5, 6, 7, 8, 9, 1, 2, 3, 4, 5],
        "cpu_ns": [None] * 10,
    }
    about = json.loads(table.schema.metadata[b"whetstone"])
    assert about["seed"] == 7
    assert about["plan"]["n_pairs"] == 2


def test_raw_samples_are_compressed(timings_of, tmp_path):
    sizes = {}
    calls = [np.full(50_000, 1_234_567)] * 2

    def store(path):
        sizes["file"] = path.stat().st_size
        return FILE

    summarise_alone(timings_of({"baseline": calls}), ARMS, tmp_path, store)
    assert sizes["file"] < 50_000 * 2 * 8 / 20


# ---------------------------------------------------------------- flags
@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"load_average": 5.2}, "busy machine: load average 5.2 on 2 cores"),
        ({"cpu_fraction": 0.36}, "on the processor for 36% of the time"),
        ({"n_involuntary": 7}, "preempted in about 7.0% of calls"),
        ({"floor_ns": 600e3}, "60% of a call is not the model"),
        (
            {"stops": [Stop(pair=1, workload=Workload(), n_rounds=2, n_planned=5)]},
            "stopped at 2 s in 1 of 3 pairs, after 2 of 5",
        ),
    ],
)
def test_what_contaminates_is_said(timings_of, facts, said):
    timings = timings_of({"baseline": [np.full(100, 1e6)] * 3}, **facts)
    (only,) = flags(timings, "baseline", Workload())
    assert said in only


def test_several_threads_are_not_blamed_for_waiting(timings_of):
    workload = Workload(threads=2)
    timings = timings_of({"baseline": [np.full(100, 1e6)] * 3}, workload, cpu_fraction=0.4, n_involuntary=9)
    assert flags(timings, "baseline", workload) == ()
