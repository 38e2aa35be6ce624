import numpy as np
import pytest
from scipy import special

from engine.quality.agreement import agreement, kl_per_row


def test_kl_vector():
    p, q = np.array([[0.5, 0.5]]), np.array([[0.9, 0.1]])
    assert kl_per_row(p, q) == pytest.approx([0.510826], abs=5e-7)
    assert kl_per_row(q, p) == pytest.approx([0.368064], abs=5e-7)
    assert kl_per_row(np.array([0.5]), np.array([0.1])) == pytest.approx([0.510826], abs=5e-7)


def test_kl_of_certain_rows_is_finite():
    kl = kl_per_row(np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0]))
    assert kl[:2].tolist() == [0.0, 0.0]
    assert kl[2] == pytest.approx(-np.log(1e-12), rel=1e-6)


def test_classes():
    before = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8], [0.4, 0.35, 0.25]])
    after = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.2, 0.1, 0.7], [0.3, 0.45, 0.25]])
    found = agreement(before, after, "multiclass", identical=False)
    assert found.flip_fraction == 0.25
    assert found.max_abs_diff == pytest.approx(0.1)
    rows = special.rel_entr(before, after).sum(axis=1)
    assert (found.mean_kl_nats, found.max_kl_nats) == pytest.approx((rows.mean(), rows.max()))


def test_p99_is_a_row_not_an_element():
    before, after = np.zeros((200, 5)), np.zeros((200, 5))
    after[0] = 3.0
    after[1:3, 2] = 2.0
    found = agreement(before, after, "embedding", identical=False)
    assert (found.max_abs_diff, found.p99_abs_diff) == (3.0, 2.0)
    assert found.flip_fraction is None
    assert found.mean_kl_nats is None


def test_no_row_left_gives_no_number():
    found = agreement(np.zeros(0), np.zeros(0), "binary", identical=False)
    assert (found.max_abs_diff, found.p99_abs_diff, found.flip_fraction) == (None, None, None)
