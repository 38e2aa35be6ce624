import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.special import rel_entr

from engine.quality.agreement import agreement
from engine.quality.answers import compare
from engine.quality.divergence import js_per_row, kl_per_row, top_k_overlap


def found(before, after, task, labels=None, kind="probabilities"):
    return agreement(compare(before, after, labels, kind, task), labels)


def test_kl_and_js_vectors():
    p, q = np.array([[0.5, 0.5]]), np.array([[0.9, 0.1]])
    assert kl_per_row(p, q) == pytest.approx([0.510826], abs=5e-7)
    assert kl_per_row(q, p) == pytest.approx([0.368064], abs=5e-7)
    assert kl_per_row(np.array([0.5]), np.array([0.1])) == pytest.approx([0.510826], abs=5e-7)
    assert js_per_row(p, q) == js_per_row(q, p) == pytest.approx([0.101749], abs=5e-7)


def test_js_is_that_of_scipy_squared():
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(4), 20), rng.dirichlet(np.ones(4), 20)
    assert js_per_row(p, q) == pytest.approx([jensenshannon(a, b) ** 2 for a, b in zip(p, q, strict=True)])


def test_kl_of_certain_rows_is_finite():
    kl = kl_per_row(np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0]))
    assert kl[:2].tolist() == [0.0, 0.0]
    assert kl[2] == pytest.approx(-np.log(1e-12), rel=1e-6)


def test_classes():
    before = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.05, 0.15, 0.8], [0.4, 0.35, 0.25]])
    after = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.2, 0.1, 0.7], [0.3, 0.45, 0.25]])
    said = found(before, after, "multiclass")
    assert said.flip_fraction == 0.25
    assert (said.bad_flip_fraction, said.good_flip_fraction) == (None, None)
    assert said.max_abs_diff == pytest.approx(0.15)
    rows = rel_entr(before, after).sum(axis=1)
    assert (said.mean_kl_nats, said.max_kl_nats) == pytest.approx((rows.mean(), rows.max()))
    assert (said.top_k, said.top_k_overlap) == (2, 7 / 8)


def test_flips_are_bad_good_or_neither():
    before = np.eye(3)[[0, 0, 1, 2, 2]]
    after = np.eye(3)[[0, 1, 0, 1, 0]]
    said = found(before, after, "multiclass", np.array([0, 0, 0, 0, -1]))
    assert said.flip_fraction == 0.8
    assert said.bad_flip_fraction == 0.25  # row 2; of the four rows with a label
    assert said.good_flip_fraction == 0.25  # row 3


def test_top_k_counts_the_classes_both_name():
    before, after = np.array([[9, 8, 7, 1, 0.0]]), np.array([[7, 8, 1, 9, 0.0]])
    assert top_k_overlap(before, after, 3) == pytest.approx([2 / 3])
    assert found(np.full((4, 2), 0.5), np.full((4, 2), 0.5), "multiclass").top_k is None


def test_p99_is_a_row_not_an_element():
    before, after = np.zeros((200, 5)), np.zeros((200, 5))
    after[0] = 3.0
    after[1:3, 2] = 2.0
    said = found(before, after, "embedding", kind="embedding")
    assert (said.max_abs_diff, said.p99_abs_diff) == (3.0, 2.0)
    assert said.flip_fraction is None
    assert said.mean_kl_nats is None


def test_rows_without_an_answer_are_left_out():
    before, after = np.array([0.2, 0.9, 0.6]), np.array([0.3, np.nan, 0.6])
    said = found(before, after, "binary", np.array([0, 1, 1]))
    assert said.max_abs_diff == pytest.approx(0.1)
    assert said.flip_fraction == said.bad_flip_fraction == 0.0
    assert not said.identical


def test_no_row_left_gives_no_number():
    said = found(np.full(3, 0.5), np.full(3, np.nan), "binary")
    assert (said.max_abs_diff, said.p99_abs_diff, said.flip_fraction) == (None, None, None)
