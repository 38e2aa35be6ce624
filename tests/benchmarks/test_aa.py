import time

import numpy as np
import pytest

from benchmarks import aa, planted
from engine.measurement.timings import Round, Served, Timings
from engine.records import Workload

ONE = Workload()


def timings(ms, noise=0.002, n_pairs=10, seed=0):
    """Arms with these medians; every process has a bias of its own, every call its noise."""
    rng = np.random.default_rng(seed)
    rounds, served = [], []
    for pair in range(n_pairs):
        for arm, middle in ms.items():
            calls = middle * 1e6 * rng.lognormal(0, noise) * rng.lognormal(0, 0.05, 400)
            rounds.append(Round(pair, arm, ONE, 0, calls.astype(np.int64), 1, 1, 1, 10**9, 10**9, 0))
            served.append(Served(pair, arm, 1, 1.0, 1.0, 1, {ONE: 1}, {ONE: 1.0}))
    return Timings(aa.PLAN, 0, tuple(ms), (ONE,), 0.0, 2, tuple(rounds), tuple(served))


def test_the_planted_model_answers_the_same_and_takes_longer():
    def model(inputs):
        end = time.perf_counter_ns() + 4_000_000
        while time.perf_counter_ns() < end:
            pass
        return {"y": inputs["x"] + 1}

    spent = {}
    for name, predict in (("plain", model), ("planted", planted.slower(model))):
        taken = []
        for _ in range(30):
            begun = time.perf_counter_ns()
            assert predict({"x": 1}) == {"y": 2}
            taken.append(time.perf_counter_ns() - begun)
        spent[name] = min(taken)
    assert 1.03 < spent["planted"] / spent["plain"] < 1.2


def test_each_arm_is_compared_with_the_baseline():
    three = timings({"baseline": 1.0, "variant": 1.0, "planted": 1.05})
    assert aa._p50(three, "variant").ratio == pytest.approx(1.0, abs=0.01)
    assert aa._p50(three, "planted").ratio == pytest.approx(1.05, abs=0.01)


def test_naive_tests_take_the_bias_of_a_process_for_a_difference(monkeypatch):
    """Equal models whose processes differ by 1.5 %: their calls make the bootstrap sure of it, the pairs do not."""
    monkeypatch.setattr(aa, "N_BOOTSTRAP", 200)
    found = []
    for seed in range(20):
        three = timings({"baseline": 1.0, "variant": 1.0, "planted": 1.05}, noise=0.015, seed=seed)
        rng = np.random.default_rng(seed)
        found.append(aa._tests(three, ONE, aa._p50(three, "variant"), aa._p50(three, "planted"), rng))
    naive, banded, beside, ours = (
        [sum(getattr(seen, kind) for seen in each) for kind in ("aa", "planted")]
        for each in zip(*(one.values() for one in found), strict=True)
    )
    assert naive[0] >= 12
    assert beside[0] >= 12
    assert banded[0] <= naive[0]
    assert ours[0] == 0
    assert ours[1] >= 12


@pytest.mark.parametrize(
    ("interval", "band", "called"),
    [((1.001, 1.02), 0.0, True), ((1.001, 1.02), 0.03, False), ((0.98, 1.02), 0.0, False), ((0.9, 0.96), 0.03, True)],
)
def test_an_interval_away_from_one_is_a_difference(interval, band, called):
    assert aa._outside([interval, (1.0, 1.1)], band).aa is called
