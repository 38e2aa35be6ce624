import numpy as np
import pytest
from sklearn.metrics import f1_score

from engine.quality import label_f1
from engine.quality.label_f1 import f1_of_labels, label_f1_bound


def decisions(n=500, lost=0.05, seed=0, k=4):
    rng = np.random.default_rng(seed)
    labels = (rng.random((n, k)) < np.linspace(0.5, 0.1, k)).astype(np.int8)
    before = (labels == 1) ^ (rng.random((n, k)) < 0.1)
    return labels, before, before ^ (rng.random((n, k)) < lost)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_value_is_that_of_scikit_learn(average):
    labels, before, _ = decisions()
    assert f1_of_labels(before, labels, None, average) == pytest.approx(f1_score(labels, before, average=average))
    weights = np.random.default_rng(1).random(500)
    expected = f1_score(labels, before, average=average, sample_weight=weights)
    assert f1_of_labels(before, labels, weights, average) == pytest.approx(expected)
    assert f1_of_labels(before, np.zeros_like(labels), None, average) is None


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_the_drops_that_are_drawn_are_those_of_the_rows(monkeypatch, average):
    """What a resample gives is the F1 of the rows it drew: with the plain sums it is the observed drop."""
    labels, before, after = decisions(60)
    seen = {}

    def caught(drops, strata, observed, alpha, seed, *, shift):
        rng = np.random.default_rng(0)
        drawn = rng.integers(0, 60, 60)
        times = np.r_[np.bincount(drawn, minlength=60), 0].astype(np.float32)
        seen.update(observed=observed, drawn=float(drops(times[None])[0]), shift=shift, rows=drawn, n=len(strata))

    monkeypatch.setattr(label_f1, "resampled_bound", caught)
    label_f1_bound(before, after, labels, average=average)
    for rows, found in ((np.arange(60), seen["observed"]), (seen["rows"], seen["drawn"])):
        first, second = (f1_score(labels[rows], said[rows], average=average) for said in (before, after))
        assert found == pytest.approx(first - second)
    assert seen["n"] == 61
    assert seen["shift"] > 0  # one lost row of the rarest label


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_the_same_answers_in_few_rows_do_not_exclude_a_loss(average):
    labels, before, _ = decisions(120)
    found = label_f1_bound(before, before.copy(), labels, average=average)
    assert found.upper > 0.002
    assert found.harm_p > 0.3


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_weights_and_twins(average):
    labels, before, after = decisions()
    once = label_f1_bound(before, after, labels, average=average)
    twice = label_f1_bound(
        *(np.repeat(part, 2, axis=0) for part in (before, after, labels)), None, np.repeat(np.arange(500), 2),
        average=average,
    )  # fmt: skip
    drop = f1_of_labels(before, labels, None, average) - f1_of_labels(after, labels, None, average)
    assert twice.upper - drop == pytest.approx(once.upper - drop, rel=0.25)
    weighted = label_f1_bound(before, after, labels, np.r_[np.ones(250), np.zeros(250)], average=average)
    half = label_f1_bound(before[:250], after[:250], labels[:250], average=average)
    assert weighted.upper == pytest.approx(half.upper, rel=0.3)
