import math

import numpy as np
import pytest

from engine.errors import InvalidRequest
from engine.planning.caching import (
    characteristic_time,
    che,
    che_with_ttl,
    plan_from_log,
    plan_from_zipf,
    ttl_hits,
    zipf,
)
from engine.records.caching import CacheSettings
from engine.reports.plan_cache import answer, notes
from engine.simulation.caching import replay


@pytest.mark.parametrize(
    ("n_keys", "exponent", "capacity", "hits", "replayed", "best"),
    [
        (4, 0.0, 2, 0.5, 0.5007, 0.5),
        (1000, 1.0, 100, 0.5765, 0.5768, 0.6930),
        (10_000, 0.8, 1000, 0.4367, 0.4363, 0.5706),
        (10_000, 1.1, 1000, 0.7802, 0.7789, 0.8439),
    ],
)
def test_che_agrees_with_a_replay(n_keys, exponent, capacity, hits, replayed, best):
    popularity = zipf(n_keys, exponent)
    assert che(popularity, capacity) == pytest.approx(hits, abs=5e-5)
    assert popularity[:capacity].sum() == pytest.approx(best, abs=5e-5)
    keys = np.random.default_rng(0).choice(n_keys, 200_000, p=popularity).tolist()
    assert replay(keys, capacity)[50_000:].mean() == pytest.approx(replayed, abs=0.006)


def test_the_characteristic_time():
    assert characteristic_time(zipf(4, 0), 2) == pytest.approx(4 * math.log(2), abs=1e-6)
    assert characteristic_time(zipf(1000, 1.0), 100) == pytest.approx(180.93, abs=0.005)


def test_everything_fits_and_nothing_does():
    assert che(zipf(10, 1), 10) == 1
    assert che(zipf(10, 1), 0) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("rate", "hits"), [(0.1, 0.857143), (1.0, 0.983607)])
def test_the_age_of_answers(rate, hits):
    assert ttl_hits(rate, 60) == pytest.approx(hits, abs=5e-7)
    assert che_with_ttl(zipf(1, 0), 1, rate, 60) == pytest.approx(hits, abs=5e-7)


def settings(**more):
    known = {"capacity": 100, "rate_per_s": 278, "model_ms": 20, "replica_per_s": 50, "price_per_hour": 40}
    return CacheSettings(**(known | more))


def test_sixty_per_cent_hits():
    """0.6 · 1 + 0.4 · (1 + 20) = 9 ms, and 111.2 of 278 requests/s reach the model."""
    log = ["a", *(["a"] * 6 + [f"n{i}" for i in range(4)]) * 40]
    unique = [key if key == "a" else f"{key}-{i}" for i, key in enumerate(log)]
    plan = plan_from_log(unique, settings(capacity=5))
    assert plan.hit_fraction == pytest.approx(0.6, abs=0.005)
    assert plan.mean_ms == pytest.approx(9.0, abs=0.1)
    assert plan.model_per_s == pytest.approx(111.2, abs=1.4)
    assert not plan.improves_p99
    assert (plan.fleet.without, plan.fleet.warm, plan.fleet.cold) == (8, 3, 8)
    assert "p99 does not improve" in answer(plan, "INR")
    assert any("while it is empty" in line for line in notes(plan))


def test_zipf_with_its_curve():
    plan = plan_from_zipf(1000, 1.0, settings())
    assert plan.hit_fraction == pytest.approx(0.5765, abs=5e-5)
    hits = [fraction for _, fraction in plan.curve]
    assert hits == sorted(hits)
    assert dict(plan.curve)[100] == plan.hit_fraction


def test_nearly_everything_hits_and_p99_improves():
    plan = plan_from_log(["a", "b"] * 500, settings(capacity=2, replica_per_s=None))
    assert (plan.hit_fraction, plan.improves_p99, plan.fleet) == (1, True, None)
    assert plan.hit_fraction_from_empty == 0.998


@pytest.mark.parametrize(
    "make",
    [
        lambda: plan_from_log([], settings()),
        lambda: zipf(0, 1),
        lambda: zipf(10, -1),
    ],
)
def test_impossible_traffic_is_refused(make):
    with pytest.raises(InvalidRequest):
        make()
