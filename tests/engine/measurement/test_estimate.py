import time
from contextlib import contextmanager

import numpy as np
import pytest

from engine.measurement.arm import Arm
from engine.measurement.estimate import ROUND_S, START_S, estimate_s
from engine.measurement.presets import PRESETS
from engine.measurement.protocol import measure
from engine.records import Choice, FileRef, Interval, Measurement, Workload

ONE = Workload()
SWEEP = [Workload(batch_size=2**power) for power in range(8)]


def known(batch, p50, threads=1):
    return Measurement(
        artefact_id="a", runtime=Choice(name="r"), workload=Workload(batch_size=batch, threads=threads),
        samples=FileRef(path="p", sha256="0", size_bytes=1), n_calls=1000, n_pairs=10, p50_ms=Interval(value=p50),
        p95_ms=None, p99_ms=None, items_per_s=1, cold_start_ms=1, load_ms=1, peak_bytes=1, prepare_ms=0, model_ms=p50,
        post_ms=0,
    )  # fmt: skip


def test_the_parts_of_a_quick_run():
    """3 pairs of: 2 starts, 2 half-second warm-ups, 50 rounds of 2 x (10 timed calls, one before them, overhead)."""
    expected = 3 * (2 * START_S + 2 * 0.5 + 50 * 2 * (0.010 + 0.001 + ROUND_S))
    assert estimate_s("quick", [ONE], 1.0) == pytest.approx(expected, rel=0.1)
    assert estimate_s("quick", [ONE], 1.0, start_s=0.4) < 15


def test_more_of_anything_takes_longer():
    base = estimate_s("quick", [ONE], 1.0)
    assert estimate_s("quick", SWEEP, 1.0) > base
    assert estimate_s("standard", [ONE], 1.0) > 3 * base
    assert estimate_s("quick", [ONE], 50.0) > base
    assert estimate_s("quick", [ONE], 1.0, start_s=5) == pytest.approx(base + 3 * 2 * (5 - START_S))
    assert estimate_s("quick", [ONE], 1.0, n_arms=1) == pytest.approx(base / 2, rel=0.05)


def test_other_threads_start_processes_of_their_own():
    more = estimate_s("quick", [ONE, Workload(batch_size=8), Workload(threads=2)], 1.0)
    fewer = estimate_s("quick", [ONE, Workload(batch_size=8), Workload(batch_size=2)], 1.0)
    assert more - fewer > 3 * 2 * START_S * 0.9


@pytest.mark.parametrize("preset", PRESETS)
def test_slow_models_end_at_the_caps(preset):
    plan = PRESETS[preset]
    per_cell = 2 * (plan.warm_up_limit_s + 3) + plan.cell_s + 2 * 3 * 1.0 + 2 * 1.0 + 1
    assert estimate_s(preset, [ONE], 1000.0) <= plan.n_pairs * (2 * START_S + per_cell)


@pytest.mark.parametrize(
    ("measurements", "call_ms"),
    [
        ([known(1, 5.2), known(128, 30.6)], 17.8),  # on the line 5 + 0.2 n
        ([known(64, 18.0)], 18.0),
        ([known(8, 2.25)], 18.0),  # only one smaller size: in proportion
        ([known(128, 18.0)], 18.0),  # only a larger one: not more than it took
        ([known(64, 18.0, threads=2)], 18.0),
    ],
)
def test_what_is_known_of_the_model_is_used(measurements, call_ms):
    workload = [Workload(batch_size=64)]
    assert estimate_s("standard", workload, measurements) == pytest.approx(estimate_s("standard", workload, call_ms))


def test_a_real_run_takes_about_as_long(small_plan):
    @contextmanager
    def launch(arm, pair, threads):
        class Channel:
            ask = Arm(lambda inputs: time.sleep(0.004) or {}, {"x": np.ones((64, 2))}, None).handle

        yield Channel()

    begun = time.perf_counter()
    measure(launch, [ONE], small_plan)
    took = time.perf_counter() - begun
    assert took / 4 < estimate_s(small_plan, [ONE], 4.2, start_s=0.0) < took * 4
