import time
from contextlib import contextmanager

import numpy as np
import pytest

from engine.errors import Contained
from engine.measurement.arm import Arm
from engine.measurement.batch import SIZES, auto_batch, choose, quick_sweep


@pytest.mark.parametrize(
    ("fixed_ms", "per_item_ms", "expected"),
    [
        (0.0, 1.0, 1),  # nothing to share: one at a time is as good
        (0.5, 1.0, 16),  # 8 reaches 94.5 %, 16 reaches 97.3 %
        (5.0, 0.2, 128),  # still gaining at 128
    ],
)
def test_smallest_batch_near_the_best(fixed_ms, per_item_ms, expected):
    rates = {size: size / (fixed_ms + per_item_ms * size) for size in SIZES}
    assert choose(rates) == expected
    assert rates[expected] >= 0.95 * max(rates.values())


def launcher(predict, seen):
    @contextmanager
    def launch(arm, pair, threads):
        seen.append((arm, threads))

        class Channel:
            ask = Arm(predict, {"x": np.ones((256, 2))}, None).handle

        yield Channel()

    return launch


def test_a_model_with_a_fixed_cost_takes_the_largest(monkeypatch):
    monkeypatch.setattr("engine.measurement.batch.SECONDS_PER_SIZE", 0.02)
    seen = []
    assert auto_batch(launcher(lambda inputs: time.sleep(0.004) or {}, seen), 2) == 128
    assert seen == [("baseline", 2)]


def test_a_fixed_batch_is_not_asked_about():
    seen = []
    assert auto_batch(launcher(lambda inputs: {}, seen), fixed_batch=8) == 8
    assert seen == []


def test_the_sweep_times_every_size(monkeypatch):
    monkeypatch.setattr("engine.measurement.batch.SECONDS_PER_SIZE", 0.01)
    with launcher(lambda inputs: time.sleep(0.001 * len(inputs["x"])) or {}, [])("baseline", 0, 1) as channel:
        rates = quick_sweep(channel, sizes=(1, 4))
    assert set(rates) == {1, 4}
    assert 100 < rates[4] <= 1000


def test_the_sweep_ends_at_a_size_the_model_refuses(monkeypatch):
    monkeypatch.setattr("engine.measurement.batch.SECONDS_PER_SIZE", 0.01)

    def refuses_above_two(inputs):
        if len(inputs["x"]) > 2:
            raise Contained("the model needs more than 4 GB", "memory")
        return {}

    with launcher(refuses_above_two, [])("baseline", 0, 1) as channel:
        assert set(quick_sweep(channel)) == {1, 2}
        with pytest.raises(Contained):
            quick_sweep(channel, sizes=(4, 8))


def test_the_sweep_ends_where_a_call_gets_long(monkeypatch):
    monkeypatch.setattr("engine.measurement.batch.SECONDS_PER_SIZE", 0.001)
    monkeypatch.setattr("engine.measurement.batch.LONGEST_CALL_S", 0.03)
    with launcher(lambda inputs: time.sleep(0.01 * len(inputs["x"])) or {}, [])("baseline", 0, 1) as channel:
        assert set(quick_sweep(channel)) == {1, 2, 4}
