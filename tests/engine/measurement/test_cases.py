"""Cases P28 and P31 of the public record; P29 and P30 are in tests/engine/test_timing.py, P22 in reports."""

import time
from contextlib import contextmanager

import numpy as np
import pytest

from engine.measurement.arm import Arm
from engine.measurement.protocol import measure_alone
from engine.measurement.summary import summarise_alone
from engine.records import Choice, FileRef, Workload

FILE = FileRef(path="samples/x.arrow", sha256="0" * 64, size_bytes=1)


def one(timings, folder):
    arms = {"baseline": ("a" * 64, Choice(name="onnxruntime_cpu"))}
    (found,) = summarise_alone(timings, arms, folder, lambda path: FILE)
    return found


def test_p28_the_first_call_has_a_column_of_its_own(small_plan, tmp_path):
    """A model that sets itself up on its first call: it is in no percentile, and the warm-up is counted."""

    @contextmanager
    def launch(arm, pair, threads):
        calls = []

        def lazy(inputs):
            calls.append(1)
            if len(calls) == 1:
                time.sleep(0.3)
            return {}

        class Channel:
            ask = Arm(lazy, {"x": np.ones((20, 1))}, None).handle

        yield Channel()

    found = one(measure_alone(launch, [Workload()], small_plan), tmp_path)
    assert found.cold_start_ms >= 300
    assert found.p50_ms.value < 3
    assert found.p99_ms.value < 300
    assert found.n_warm_up >= small_plan.warm_up_calls


@pytest.mark.parametrize(
    ("n_calls", "p95", "p99"), [(8, False, False), (30, False, False), (100, True, False), (500, True, True)]
)
def test_p31_a_tail_needs_its_calls_and_never_passes_the_maximum(timings_of, tmp_path, n_calls, p95, p99):
    rng = np.random.default_rng(n_calls)
    for _ in range(20):
        calls = rng.lognormal(14, 1.5, n_calls)
        found = one(timings_of({"baseline": [calls[: n_calls // 2], calls[n_calls // 2 :]]}), tmp_path)
        largest_ms = calls.max() / 1e6
        assert (found.p95_ms is not None, found.p99_ms is not None) == (p95, p99)
        for figure in (found.p50_ms, found.p95_ms, found.p99_ms):
            if figure is not None:
                assert figure.value <= largest_ms
                assert figure.high is None or figure.value <= figure.high <= largest_ms
                assert figure.low is None or figure.low <= figure.value
