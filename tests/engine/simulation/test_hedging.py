import math

import numpy as np
import pytest

from engine.simulation.hedging import copies, extra_work, hedged, paused

N = 1_000_000


@pytest.fixture(scope="module")
def stragglers():
    """A lognormal body of 20 ms with 2 % stragglers of 300 ms more in the mean, and which they are."""
    rng = np.random.default_rng(0)
    base = rng.lognormal(np.log(20), 0.25, N)
    slow = rng.random(N) < 0.02
    return base + np.where(slow, rng.exponential(300, N), 0), slow


def test_four_requests_by_hand():
    first, copy = np.array([10.0, 10, 10, 100]), np.array([10.0, 20, 30, 5])
    assert hedged(first, copy, 15).tolist() == [10, 10, 10, 20]
    assert extra_work(first, copy, 15) == (20 + 5 - 100) / 130  # the straggler is cancelled after 20 ms


def test_exponential_latencies_agree_with_the_closed_form():
    rng = np.random.default_rng(1)
    first, delay = rng.exponential(1, 2 * N), math.log(20)
    done = hedged(first, rng.exponential(1, 2 * N), delay)
    for quantile, before, after in ((0.99, 4.6052, 3.8005), (0.999, 6.9078, 4.9517)):
        assert (math.log(1 / (1 - quantile)) + delay) / 2 == pytest.approx(after, abs=1e-4)
        assert np.quantile(first, quantile) == pytest.approx(before, rel=0.02)
        assert np.quantile(done, quantile) == pytest.approx(after, rel=0.02)


@pytest.mark.parametrize(
    ("quantile", "share", "p99", "p999"), [(0.95, 0.05, 51.3, 63.0), (0.98, 0.02, 61.4, 73.2), (0.99, 0.01, 230, 258)]
)
def test_stragglers_hedged_at_a_quantile(stragglers, quantile, share, p99, p999):
    first, slow = stragglers
    delay = np.quantile(first, quantile)
    done = hedged(first, copies(first, slow, 0.0, seed=3), delay)
    assert (first > delay).mean() == pytest.approx(share, abs=1e-5)
    assert np.quantile(done, [0.99, 0.999]) == pytest.approx([p99, p999], rel=0.03)


def test_a_random_cap_is_worse_than_a_later_copy(stragglers):
    first, slow = stragglers
    late = np.flatnonzero(first > np.quantile(first, 0.95))
    capped = first.copy()
    chosen = np.random.default_rng(4).permutation(late)[: int(0.02 * N)]
    capped[chosen] = hedged(first, copies(first, slow, 0.0, seed=3), np.quantile(first, 0.95))[chosen]
    assert np.quantile(capped, [0.99, 0.999]) == pytest.approx([75.5, 768.1], rel=0.07)


@pytest.mark.parametrize(("correlation", "p999"), [(0, 63), (0.25, 282), (0.5, 387), (0.75, 443), (1, 485)])
def test_copies_that_are_slow_together(stragglers, correlation, p999):
    first, slow = stragglers
    done = hedged(first, copies(first, slow, correlation, seed=5), np.quantile(first, 0.95))
    assert np.quantile(done, 0.999) == pytest.approx(p999, rel=0.07)  # over seeds ±4 %


def test_pauses_hit_who_is_there():
    first = np.full(200_000, 10.0)
    done = paused(first, 50, 1000, seed=0)
    assert (done > 10).mean() == pytest.approx(0.06, abs=0.003)  # comes in it (5 %) or is overtaken (1 %)
    assert done.max() <= 60
    assert done.mean() - 10 == pytest.approx(0.05 * 25 + 0.01 * 50, rel=0.03)
    assert (paused(np.full(3, 2000.0), 50, 1000, seed=0) >= 2100).all()
