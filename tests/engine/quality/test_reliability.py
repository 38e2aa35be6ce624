import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from engine.quality.reliability import bins, reliability
from engine.records import Signature, TensorSpec


def signature(task, n_classes, kind="probabilities"):
    spec = TensorSpec(name="p", dtype="float64", shape=("batch", n_classes))
    classes = tuple(str(k) for k in range(n_classes))
    return Signature(inputs=(), outputs=(spec,), task=task, classes=classes, score_output="p", output_kind=kind)


def test_bins_agree_with_scikit_learn():
    rng = np.random.default_rng(1)
    confidence = rng.uniform(0.3, 1, 5000)
    right = rng.random(5000) < confidence**1.3
    found = bins(confidence, right)
    share, mean = calibration_curve(right, confidence, n_bins=10)
    assert [one.right for one in found] == pytest.approx(share)
    assert [one.confidence for one in found] == pytest.approx(mean)
    assert sum(one.n_rows for one in found) == 5000


def test_the_interval_is_wilsons():
    (found,) = bins(np.full(20, 0.95), np.arange(20) < 18)
    z, p, n = 1.959964, 0.9, 20
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    assert (found.right_low, found.right_high) == pytest.approx((middle - half, middle + half), abs=1e-6)
    assert (found.low, found.high, found.n_rows) == (0.9, 1.0, 20)


def test_both_models_on_labelled_rows_only():
    before = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    after = before[:, ::-1].copy()
    labels = np.array([0, 1, 1, -1])
    first, second = reliability(before, after, labels, signature("multiclass", 2))
    assert sum(one.n_rows for one in first) == 3
    assert sum(one.right * one.n_rows for one in first) == pytest.approx(2)
    assert sum(one.right * one.n_rows for one in second) == pytest.approx(1)


def test_rows_without_an_answer_are_left_out_of_the_variant():
    before = np.array([[0.9, 0.1], [0.2, 0.8]])
    after = np.array([[0.9, 0.1], [np.nan, np.nan]])
    first, second = reliability(before, after, np.array([0, 1]), signature("multiclass", 2))
    assert sum(one.n_rows for one in first) == 2
    assert sum(one.n_rows for one in second) == 1


@pytest.mark.parametrize(("task", "labels"), [("regression", np.zeros(2)), ("multiclass", None)])
def test_no_confidence_or_no_label_means_no_diagram(task, labels):
    output = np.array([[0.9, 0.1], [0.2, 0.8]])
    assert reliability(output, output, labels, signature(task, 2)) is None
