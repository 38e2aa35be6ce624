import gc
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from engine.errors import BadInput
from engine.measurement import arm as arm_module
from engine.measurement.arm import Arm, peak_bytes


class Seen:
    """A model that remembers the rows it was given."""

    def __init__(self):
        self.rows, self.gc_was_on, self.contiguous = [], [], True

    def __call__(self, inputs):
        self.rows.append(inputs["x"][:, 0].tolist())
        self.gc_was_on.append(gc.isenabled())
        self.contiguous &= all(values.flags.c_contiguous for values in inputs.values())
        return {"y": inputs["x"]}


def pool(n=10):
    return {"x": np.arange(n, dtype=np.float32)[:, None], "name": np.array([f"row {i}" for i in range(n)])}


def test_calls_cycle_through_real_rows():
    seen = Seen()
    Arm(seen, pool(10), None).handle({"do": "round", "batch": 4, "calls": 3, "start": 0})
    assert seen.rows[1:] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1]]  # the first is not timed
    assert seen.contiguous


def test_a_batch_larger_than_the_pool_repeats_rows():
    seen = Seen()
    Arm(seen, pool(3), None).handle({"do": "round", "batch": 7, "calls": 1, "start": 2})
    assert seen.rows[1:] == [[2, 0, 1, 2, 0, 1, 2]]


def test_the_same_start_gives_the_same_rows_in_both_arms():
    one, other = Seen(), Seen()
    first, second = Arm(one, pool(), None), Arm(other, pool(), None)
    first.handle({"do": "warm", "batch": 1, "calls": 7, "seconds": 0})
    one.rows.clear()
    for arm in (first, second):
        arm.handle({"do": "round", "batch": 2, "calls": 5, "start": 6})
    assert one.rows == other.rows


def test_round_answers_every_call_and_splits_it():
    def slow(inputs):
        time.sleep(0.004)
        return {}

    arm = Arm(slow, pool(), lambda outputs: time.sleep(0.012))
    answer = arm.handle({"do": "round", "batch": 1, "calls": 5, "start": 0})
    assert len(answer["ns"]) == 5
    assert answer["model_ns"] >= 4e6
    assert answer["post_ns"] >= 12e6
    assert answer["prepare_ns"] < answer["model_ns"]
    assert sum(answer["ns"]) <= answer["wall_ns"]
    assert answer["cpu_ns"] < answer["wall_ns"] / 2  # it slept


def test_the_processor_time_of_each_call_when_asked():
    def works(inputs):
        end = time.thread_time_ns() + 2_000_000
        while time.thread_time_ns() < end:
            pass
        time.sleep(0.004)
        return {}

    arm = Arm(works, pool(), None)
    asked = arm.handle({"do": "round", "batch": 1, "calls": 4, "start": 0, "cpu_each": True})
    assert all(2e6 <= cpu < wall - 3e6 for cpu, wall in zip(asked["cpu_each_ns"], asked["ns"], strict=True))
    assert arm.handle({"do": "round", "batch": 1, "calls": 4, "start": 0})["cpu_each_ns"] is None


def test_the_floor_is_a_call_whose_model_does_nothing():
    calls, scored = [], []

    def slow(inputs):
        calls.append(len(inputs["x"]))
        time.sleep(0.02)
        return {"y": inputs["x"]}

    arm = Arm(slow, pool(), lambda outputs: scored.append(len(outputs["y"])) or time.sleep(0.002))
    floor = arm.handle({"do": "floor", "batch": 3, "calls": 20})["ns"]
    assert 2e6 <= floor < 15e6
    assert calls == [3]  # one real call, for an answer of the right shape
    assert scored == [3] * 20


def test_the_largest_round_stays_a_short_message():
    answer = Arm(lambda inputs: {}, pool(), None).handle({"do": "round", "batch": 1, "calls": 300, "start": 0})
    assert len(json.dumps(answer)) < 6000


def test_no_collection_inside_the_timed_block():
    seen = Seen()
    arm = Arm(seen, pool(), None)
    arm.handle({"do": "round", "batch": 1, "calls": 3, "start": 0})
    assert seen.gc_was_on == [False] * 4  # the first is not timed
    assert gc.isenabled()


def test_collection_comes_back_after_a_crash():
    def broken(inputs):
        raise MemoryError

    with pytest.raises(MemoryError):
        Arm(broken, pool(), None).handle({"do": "round", "batch": 1, "calls": 3, "start": 0})
    assert gc.isenabled()


def test_an_answer_that_is_no_score_is_still_timed():
    def refuse(outputs):
        raise BadInput("NaN")

    answer = Arm(lambda inputs: {}, pool(), refuse).handle({"do": "round", "batch": 1, "calls": 4, "start": 0})
    assert len(answer["ns"]) == 4


def test_the_first_call_is_kept_apart():
    state = {"calls": 0}

    def lazy(inputs):
        state["calls"] += 1
        if state["calls"] == 1:
            time.sleep(0.08)
        return {}

    arm = Arm(lazy, pool(), None, load_ms=12.0)
    hello = arm.handle({"do": "hello", "batch": 2})
    assert hello["load_ms"] == 12.0
    assert hello["pool_rows"] == 10
    assert hello["cold_start_ms"] >= 80
    assert arm.handle({"do": "hello", "batch": 2}) == hello
    assert arm.handle({"do": "first", "batch": 2})["ns"] >= 80e6
    assert state["calls"] == 1
    assert arm.handle({"do": "warm", "batch": 2, "calls": 3, "seconds": 0})["ns"] < 40e6


def test_warm_up_needs_both_calls_and_time():
    arm = Arm(lambda inputs: {}, pool(), None)
    assert arm.handle({"do": "warm", "batch": 1, "calls": 40, "seconds": 0})["calls"] == 40
    begun = time.perf_counter()
    assert arm.handle({"do": "warm", "batch": 1, "calls": 1, "seconds": 0.05})["calls"] > 1
    assert time.perf_counter() - begun >= 0.05


def test_warm_up_of_a_slow_model_ends_at_its_limit():
    arm = Arm(lambda inputs: time.sleep(0.02) or {}, pool(), None)
    answer = arm.handle({"do": "warm", "batch": 1, "calls": 1000, "seconds": 60, "limit_s": 0.01})
    assert answer["calls"] == 3
    assert answer["ns"] >= 20e6


def test_an_unknown_message_is_refused():
    with pytest.raises(ValueError, match="got 'dance'"):
        Arm(lambda inputs: {}, pool(), None).handle({"do": "dance"})


def test_the_pool_is_a_spread_of_rows_in_memory(monkeypatch):
    monkeypatch.setattr(arm_module, "POOL_ROWS", 5)
    seen = Seen()
    Arm(seen, pool(101), None).handle({"do": "round", "batch": 5, "calls": 1, "start": 0})
    assert seen.rows[1:] == [[0, 25, 50, 75, 100]]


def test_wide_rows_limit_the_pool_by_bytes(monkeypatch):
    monkeypatch.setattr(arm_module, "POOL_BYTES", 4000)
    held = Arm(lambda inputs: {}, {"x": np.zeros((100, 100))}, None)._pool
    assert held["x"].shape == (5, 100)


def in_a_child(code):
    return int(subprocess.check_output([sys.executable, "-c", code], text=True, cwd=Path(__file__).parents[3]))


def test_peak_is_the_largest_so_far():
    code = "import numpy as np; from engine.measurement.arm import peak_bytes; np.ones({}); print(peak_bytes())"
    assert in_a_child(code.format(40_000_000)) - in_a_child(code.format(1)) > 300e6


def test_peak_is_not_that_of_the_parent():
    block = np.ones(60_000_000)  # 480 MB resident in this process
    child = in_a_child("from engine.measurement.arm import peak_bytes; print(peak_bytes())")
    assert child < block.nbytes < peak_bytes()
