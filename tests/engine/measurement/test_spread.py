import numpy as np
import pytest

from engine.measurement.flags import flags
from engine.measurement.spread import row_spread
from engine.records import Workload

ONE = Workload()
N_ROWS = 400


def calls(cost_of_row, n_pairs=3, noise=0.05, spikes=0.02, first_call=1.0, seed=0):
    """Every row once per pair, each process with a bias of its own, some calls preempted."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(n_pairs):
        ns = 1e6 * rng.lognormal(0, 0.02) * cost_of_row * rng.lognormal(0, noise, N_ROWS)
        ns[rng.random(N_ROWS) < spikes] *= 50
        ns[0] *= first_call
        pairs.append(ns)
    return {"baseline": pairs}


@pytest.mark.parametrize("n_pairs", [2, 3, 10])
@pytest.mark.parametrize("seed", range(5))
def test_noise_is_not_taken_for_data(timings_of, n_pairs, seed):
    timings = timings_of(calls(np.ones(N_ROWS), n_pairs, noise=0.2, seed=seed), n_pool_rows=N_ROWS)
    found = row_spread(timings, "baseline", ONE)
    assert found.n_blocks == N_ROWS - 1
    assert found.slowest == pytest.approx(1, abs=0.2)
    assert found.fastest == pytest.approx(1, abs=0.2)
    assert flags(timings, "baseline", ONE) == ()


def test_dear_rows_are_found_wherever_they_are(timings_of):
    cost = np.ones(N_ROWS)
    cost[np.random.default_rng(1).choice(N_ROWS, 40, replace=False)] = 3.1
    timings = timings_of(calls(cost), n_pool_rows=N_ROWS)
    assert row_spread(timings, "baseline", ONE).slowest == pytest.approx(3.1, rel=0.05)
    assert flags(timings, "baseline", ONE) == ("time depends on the data: slowest rows take 3.1x",)


def test_cheap_rows_are_found_too(timings_of):
    cost = np.ones(N_ROWS)
    cost[::10] = 0.5
    found = row_spread(timings_of(calls(cost), n_pool_rows=N_ROWS), "baseline", ONE)
    assert found.fastest == pytest.approx(0.5, rel=0.05)
    assert found.slowest == pytest.approx(1, abs=0.1)


def test_rows_that_come_round_again_are_one_block(timings_of):
    cost = np.tile(np.where(np.arange(80) % 10 == 3, 2.0, 1.0), 5)
    found = row_spread(timings_of(calls(cost), n_pool_rows=80), "baseline", ONE)
    assert found.n_blocks == 80
    assert found.slowest == pytest.approx(2, rel=0.05)


def test_the_first_call_of_a_round_does_not_count(timings_of):
    timings = timings_of(calls(np.ones(N_ROWS), first_call=20.0), n_pool_rows=N_ROWS)
    assert row_spread(timings, "baseline", ONE).n_blocks == N_ROWS - 1


@pytest.mark.parametrize(("n_pairs", "n_calls"), [(1, 400), (3, 60)])
def test_too_little_says_nothing(timings_of, n_pairs, n_calls):
    timings = timings_of({"baseline": [np.full(n_calls, 1e6)] * n_pairs}, n_pool_rows=N_ROWS)
    assert row_spread(timings, "baseline", ONE) is None
