import numpy as np
import pytest

from engine.simulation.caching import replay


def test_the_least_recently_used_leaves():
    assert replay(list("abacabc"), 2).tolist() == [False, False, True, False, True, False, False]
    assert not replay(list("aaa"), 0).any()
    assert replay(list("abab"), 5).tolist() == [False, False, True, True]


def test_an_old_answer_is_none_and_its_age_counts_from_when_it_was_put_in():
    assert replay(list("aaaaaa"), 1, gap_s=1, ttl_s=2).tolist() == [False, True, True, False, True, True]


@pytest.mark.parametrize(("rate", "ttl_s", "expected"), [(0.1, 60, 0.857143), (1.0, 60, 0.983607)])
def test_a_key_that_comes_by_chance_meets_its_ttl_formula(rate, ttl_s, expected):
    came = np.random.default_rng(0).random(400_000) < rate / 20  # in steps of 0.05 s
    keys = np.where(came, -1, np.arange(len(came))).tolist()
    hits = replay(keys, len(keys), gap_s=0.05, ttl_s=ttl_s)
    assert hits[came].mean() == pytest.approx(expected, abs=0.012)
