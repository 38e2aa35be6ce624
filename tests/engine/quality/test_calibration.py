import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from engine.quality.calibration import calibration, ece, ece_equal_mass
from tests.engine.quality.answering import judged


def test_ece_vector():
    confidence, right = np.array([0.95, 0.95, 0.85, 0.55]), np.array([1, 1, 0, 1], bool)
    assert ece(confidence, right, n_bins=10) == pytest.approx(0.35)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_bins_are_those_of_scikit_learn(strategy):
    rng = np.random.default_rng(0)
    confidence = rng.random(3000)
    right = rng.random(3000) < confidence**1.3
    told, meant = calibration_curve(right, confidence, n_bins=15, strategy=strategy)
    edges = np.linspace(0, 1, 16) if strategy == "uniform" else np.quantile(confidence, np.linspace(0, 1, 16))
    sizes = np.histogram(confidence, edges)[0]
    measured = (ece if strategy == "uniform" else ece_equal_mass)(confidence, right)
    assert measured == pytest.approx((np.abs(told - meant) * sizes).sum() / 3000, abs=2e-4)


def test_weights_count_rows():
    confidence, right = np.array([0.9, 0.9, 0.3]), np.array([True, False, True])
    twice = ece(np.repeat(confidence, [2, 1, 1]), np.repeat(right, [2, 1, 1]))
    assert ece(confidence, right, np.array([2.0, 1.0, 1.0])) == pytest.approx(twice)


def sharpened(n=4000, power=1.0, groups=None):
    rng = np.random.default_rng(1)
    odds = rng.normal(0, 2, n)
    labels = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    before, after = 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(-odds * power))
    return calibration(judged(before, after, labels, "binary", groups=groups))


def test_overconfidence_shows_with_its_interval():
    found = sharpened(power=2.0)
    assert found.equal_width[0] < 0.02 < found.equal_width[1]
    assert found.change.value == pytest.approx(found.equal_width[1] - found.equal_width[0])
    assert 0 < found.change.low < found.change.value < found.change.high


def test_the_same_answers_change_nothing():
    found = sharpened()
    assert (found.change.low, found.change.value, found.change.high) == (0, 0, 0)


def test_dependent_rows_widen_the_interval():
    apart, together = sharpened(power=1.3), sharpened(power=1.3, groups=np.arange(4000) // 200)
    assert together.change.value == apart.change.value
    assert together.change != apart.change


def test_a_regression_has_no_calibration():
    truth = np.arange(5.0)
    assert calibration(judged(truth, truth, truth, "regression", "value")) is None
