import json

import numpy as np
import pyarrow as pa
import pytest

from engine.measurement.flags import flags
from engine.measurement.summary import comparisons, summarise, summarise_alone
from engine.measurement.timings import Stop
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


def test_long_pairs_compare_p99(timings_of):
    rng = np.random.default_rng(0)
    base = [rng.lognormal(0, 0.1, 400) * 1e6 for _ in range(3)]
    found = {one.quantile: one for one in comparisons(timings_of({"baseline": base, "variant": [x / 4 for x in base]}))}
    assert set(found) == {0.5, 0.95, 0.99, None}
    assert found[0.99].ratio == pytest.approx(0.25, abs=1e-4)
    assert found[0.99].verdict == "faster"
    assert found[None].ratio == pytest.approx(0.25, abs=1e-4)


@pytest.mark.parametrize("n_calls", [8, 30, 99])
def test_too_few_calls_have_no_tail(timings_of, tmp_path, n_calls):
    calls = [np.linspace(1e6, 2e6, n_calls // 2)] * 2
    (alone,) = summarise_alone(timings_of({"baseline": calls}), ARMS, tmp_path, lambda path: FILE)
    assert alone.p95_ms is None
    assert alone.p99_ms is None
    assert alone.p50_ms.value <= 2


def test_raw_samples_round_trip(timings_of, tmp_path):
    timings = timings_of({"baseline": [[5, 6, 7], [8, 9]], "variant": [[1, 2, 3], [4, 5]]}, Workload(batch_size=32))
    kept = {}

    def store(path):
        kept["table"] = pa.ipc.open_file(path).read_all()
        return FILE

    summarise(timings, ARMS, tmp_path, store)
    table = kept["table"]
    assert table.column_names == ["pair", "arm", "batch", "round", "ns"]
    assert table.to_pandas().astype({"arm": str}).to_dict("list") == {
        "pair": [0, 0, 0, 1, 1] * 2,
        "arm": ["baseline"] * 5 + ["variant"] * 5,
        "batch": [32] * 10,
        "round": [0] * 10,
        "ns": [5, 6, 7, 8, 9, 1, 2, 3, 4, 5],
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
        ({"stops": [Stop(pair=1, workload=Workload(), n_rounds=2)]}, "stopped at 2 s in 1 of 3 pairs, after 2 of 5"),
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
