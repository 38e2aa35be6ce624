import time
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest

from engine.measurement.arm import Arm
from engine.measurement.presets import PRESETS
from engine.measurement.protocol import measure, measure_alone, rounds_and_calls
from engine.measurement.summary import comparisons
from engine.records import Workload

ONE, EIGHT = Workload(), Workload(batch_size=8)


class InProcess:
    """Real arms in this process, for everything but time: who was asked what, in which order."""

    def __init__(self, predict=lambda inputs: {}):
        self.predict = predict
        self.started, self.asked = [], []

    @contextmanager
    def __call__(self, arm, pair, threads):
        held = Arm(self.predict, {"x": np.ones((50, 2))}, None)
        self.started.append((pair, arm, threads))
        launcher = self

        class Channel:
            def ask(self, message):
                launcher.asked.append((pair, arm, message))
                return held.handle(message)

        yield Channel()


def test_every_pair_is_two_fresh_processes(processes, small_plan):
    launch = processes(baseline=(64, 1), variant=(64, 1))
    timings = measure(launch, [ONE, EIGHT], small_plan, seed=3)
    assert len({child.pid for _, _, child in launch.started}) == 6
    assert all(child.returncode == 0 for _, _, child in launch.started)
    assert sorted({(one.pair, one.arm) for one in timings.processes}) == [
        (pair, arm) for pair in range(3) for arm in ("baseline", "variant")
    ]
    assert all(one.load_ms == 1.5 and one.cold_start_ms > 0 and one.peak_bytes > 1e6 for one in timings.processes)


def test_the_same_model_is_not_called_faster_or_slower(processes, small_plan):
    launch = processes(baseline=(256, 1), variant=(256, 1))
    timings = measure(launch, [ONE], small_plan, seed=1)
    assert {one.verdict for one in comparisons(timings)} <= {"no difference", "cannot tell"}


def test_a_model_that_does_eight_times_the_work_is_slower(processes, small_plan):
    launch = processes(baseline=(512, 1), variant=(512, 8))
    p50 = next(one for one in comparisons(measure(launch, [ONE], small_plan, seed=2)) if one.quantile == 0.5)
    assert p50.verdict == "slower"
    assert p50.ratio > 2


def test_both_arms_make_the_same_calls_on_the_same_rows(small_plan):
    launch = InProcess()
    timings = measure(launch, [ONE, EIGHT], small_plan)
    for workload in (ONE, EIGHT):
        for pair in range(3):
            sizes = {
                arm: [len(one.total_ns) for one in timings.of(arm, workload) if one.pair == pair]
                for arm in timings.arms
            }
            assert sizes["baseline"] == sizes["variant"]
            assert len(sizes["baseline"]) == small_plan.n_rounds
    rounds = {
        arm: [message for _, who, message in launch.asked if who == arm and message["do"] == "round"]
        for arm in timings.arms
    }
    assert rounds["baseline"] == rounds["variant"]
    starts = [one["start"] for one in rounds["baseline"][: small_plan.n_rounds]]
    assert all(later > earlier for earlier, later in pairwise(starts))


def test_each_number_of_threads_has_pairs_of_its_own(small_plan):
    two = Workload(threads=2)
    launch = InProcess()
    timings = measure(launch, [ONE, EIGHT, two], small_plan.model_copy(update={"n_pairs": 12}))
    assert sorted(launch.started) == sorted(
        (pair, arm, threads) for pair in range(12) for arm in ("baseline", "variant") for threads in (1, 2)
    )
    assert {threads for _, _, threads in launch.started[::4]} == {1, 2}  # whichever comes first is random
    for workload in (ONE, EIGHT, two):
        assert len(timings.by_pair("variant", workload)) == 12
    served = [one for one in timings.processes if one.threads == 2]
    assert len(served) == 24
    assert all(set(one.n_warm_up) == set(one.floor_ns) == {two} for one in served)


@pytest.mark.slow
def test_the_empty_call_is_measured_in_every_process(small_plan):
    slow = InProcess(lambda inputs: time.sleep(0.005) or {})
    timings = measure(slow, [ONE, EIGHT], small_plan)
    floors = [floor for one in timings.processes for floor in one.floor_ns.values()]
    assert len(floors) == 12
    assert 0 < max(floors) < 1e6
    assert timings.n_pool_rows == 50


@pytest.mark.parametrize(
    ("sleep_s", "threads", "taken"),
    [(0.001, 1, True), (0.001, 2, False), (0.0, 1, False)],  # short calls would feel it, threads make it mean nothing
)
def test_the_processor_time_of_each_call(small_plan, sleep_s, threads, taken):
    workload = Workload(threads=threads)
    timings = measure(
        InProcess(lambda inputs: (time.sleep(sleep_s) if sleep_s else None) or {}), [workload], small_plan
    )
    cpu = timings.cpu_by_pair("variant", workload)
    assert (cpu is not None) == taken
    if cpu is not None:
        assert [len(pair) for pair in cpu] == [len(pair) for pair in timings.calls_by_pair("variant", workload)]
        assert np.median(np.concatenate(cpu)) < 0.5e6  # it slept


def test_orders_are_random_but_repeatable(small_plan):
    plan = small_plan.model_copy(update={"n_pairs": 12, "round_s": 0.0, "warm_up_s": 0.0, "warm_up_calls": 1})
    first, again, other = InProcess(), InProcess(), InProcess()
    measure(first, [ONE, EIGHT], plan, seed=5)
    measure(again, [ONE, EIGHT], plan, seed=5)
    measure(other, [ONE, EIGHT], plan, seed=6)

    def order(launch):
        return [(pair, arm, message["do"], message.get("batch")) for pair, arm, message in launch.asked]

    assert order(first) == order(again)
    assert order(first) != order(other)
    assert {launched[1] for launched in first.started[::2]} == {"baseline", "variant"}
    rounds = [(pair, arm, message) for pair, arm, message in first.asked if message["do"] == "round"]
    assert {arm for _, arm, _ in rounds[::2]} == {"baseline", "variant"}
    leading_batch = {}
    for pair, _, message in rounds:
        leading_batch.setdefault(pair, message["batch"])
    assert set(leading_batch.values()) == {1, 8}


def test_arms_alternate_round_by_round(small_plan):
    launch = InProcess()
    measure(launch, [ONE], small_plan)
    arms = [arm for _, arm, message in launch.asked if message["do"] == "round"]
    assert all({first, second} == {"baseline", "variant"} for first, second in zip(arms[::2], arms[1::2], strict=True))


def test_a_cell_stops_at_its_cap_with_equal_rounds(small_plan):
    plan = small_plan.model_copy(update={"cell_s": 0.0})
    timings = measure(InProcess(), [ONE], plan)
    assert [(stop.n_rounds, stop.n_planned) for stop in timings.stops] == [(1, 5)] * 3
    assert len(timings.of("baseline", ONE)) == len(timings.of("variant", ONE)) == 3


def test_progress_rises_to_one(small_plan):
    told = []
    measure(InProcess(), [ONE, EIGHT], small_plan, progress=lambda fraction, text: told.append((fraction, text)))
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert fractions[0] == 0.0
    assert fractions[-1] == 1.0
    assert any("pair 2 of 3" in text and "batch 8" in text for _, text in told)


def test_a_baseline_alone(processes, small_plan):
    launch = processes(baseline=(64, 1))
    timings = measure_alone(launch, [ONE], small_plan)
    assert timings.arms == ("baseline",)
    assert len(launch.started) == 3
    assert len(timings.calls_by_pair("baseline", ONE)) == 3


def test_a_model_that_fails_stops_the_run(small_plan):
    def broken(inputs):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        measure(InProcess(broken), [ONE], small_plan)


@pytest.mark.parametrize(
    ("preset", "slower_ms", "both_ms", "expected"),
    [
        ("standard", 1.0, 2.0, (50, 10)),  # 10 ms of the slower arm
        ("standard", 0.01, 0.02, (50, 300)),  # never more than 300 calls
        ("standard", 25.0, 33.0, (34, 3)),  # p99 needs 100 calls per pair; they fit in 10 s
        ("quick", 10.0, 20.0, (50, 4)),  # p99 needs 500 calls in 3 pairs
        ("quick", 25.0, 33.0, (12, 3)),  # p99 does not fit in 4 s; p95 does
        ("standard", 2000.0, 4000.0, (10, 3)),  # never less than 10 rounds of 3
    ],
)
def test_rounds_and_calls(preset, slower_ms, both_ms, expected):
    assert rounds_and_calls(slower_ms * 1e6, both_ms * 1e6, PRESETS[preset]) == expected
