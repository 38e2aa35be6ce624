from typing import get_args

import numpy as np
import pytest
from sklearn import metrics as oracle

from engine.errors import InvalidRequest
from engine.quality import metrics
from engine.quality.answers import compare
from engine.records import METRICS, Metric
from tests.engine.quality.answering import judged_rows


def value(metric, output, labels, task, kind="probabilities", weights=None, tau=None):
    """The metric of one model: compared with itself."""
    rows = judged_rows(metric, output, output, labels, task, kind, weights=weights, tau=tau)
    found = metrics.lose(metric, rows, 0.05, bounded=False)
    assert found.drop == 0
    return found.baseline


@pytest.mark.parametrize(
    ("task", "labelled", "expected"),
    [
        ("binary", True, "roc_auc"),
        ("multiclass", True, "accuracy"),
        ("multilabel", True, "macro_roc_auc"),
        ("regression", True, "rmse"),
        ("ranking", True, "ndcg_at_10"),
        ("embedding", False, "retrieval_agreement"),
        ("binary", False, None),
        ("other", True, None),
    ],
)
def test_the_metric_follows_the_task(task, labelled, expected):
    assert metrics.auto_metric(task, labelled=labelled) == expected


def test_every_metric_has_a_formula_and_its_facts():
    assert set(metrics.MEASURES) == set(METRICS) == set(get_args(Metric))
    assert all(metric in METRICS and task in METRICS[metric].tasks for task, metric in metrics.AUTO.items())


def test_each_label_of_several_can_be_judged_by_itself():
    several = {name for name, facts in METRICS.items() if "multilabel" in facts.tasks}
    assert set(metrics.ONE_LABEL) == several
    assert all("binary" in METRICS[one].tasks for one in metrics.ONE_LABEL.values())
    assert all(metrics.is_relative(metric) == metrics.is_relative(one) for metric, one in metrics.ONE_LABEL.items())


def test_losses_without_a_fixed_scale_are_relative():
    assert {name for name in METRICS if metrics.is_relative(name)} == {"log_loss", "brier", "rmse", "mae", "pinball"}
    assert not metrics.is_relative(None)


def test_a_metric_that_does_not_fit_is_refused():
    with pytest.raises(InvalidRequest, match="roc_auc cannot judge a multiclass task; use accuracy or log_loss"):
        metrics.check_fits("roc_auc", "multiclass")
    metrics.check_fits("accuracy", "binary")


# ---------------------------------------------------------------- vectors and second opinions
def test_vectors():
    assert value("log_loss", np.array([0.9, 0.2, 0.6]), np.array([1, 0, 1]), "binary") == pytest.approx(
        0.279777, abs=5e-7
    )
    assert value("brier", np.array([0.9, 0.2, 0.6]), np.array([1, 0, 1]), "binary") == pytest.approx(0.07)
    for guess, loss in ((8.0, 1.8), (13.0, 0.3)):
        found = value("pinball", np.array([guess]), np.array([10.0]), "regression", "value", tau=0.9)
        assert found == pytest.approx(loss)


@pytest.mark.parametrize("weighted", [False, True])
def test_binary_metrics_are_those_of_scikit_learn(weighted):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    scores = np.clip(0.5 + (labels - 0.5) * 0.4 + rng.normal(0, 0.3, 300), 0.01, 0.99).round(2)  # ties
    weights = rng.random(300) if weighted else None
    more = {"sample_weight": weights}
    expected = {
        "roc_auc": oracle.roc_auc_score(labels, scores, **more),
        "pr_auc": oracle.average_precision_score(labels, scores, **more),
        "f1": oracle.f1_score(labels, scores > 0.5, **more),
        "accuracy": oracle.accuracy_score(labels, scores > 0.5, **more),
        "log_loss": oracle.log_loss(labels, scores, **more),
        "brier": oracle.brier_score_loss(labels, scores, **more),
    }
    found = {metric: value(metric, scores, labels, "binary", weights=weights) for metric in expected}
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_multiclass_metrics_are_those_of_scikit_learn(weighted):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 4, 300)
    scores = rng.dirichlet(np.ones(5), 300) * 0.6 + 0.4 * np.eye(5)[labels]
    weights = rng.random(300) if weighted else None
    more = {"sample_weight": weights}
    said = scores.argmax(axis=1)
    expected = {
        "accuracy": oracle.accuracy_score(labels, said, **more),
        "macro_f1": oracle.f1_score(labels, said, labels=range(4), average="macro", **more),  # class 4 has no row
        "log_loss": oracle.log_loss(labels, scores, labels=range(5), **more),
    }
    found = {metric: value(metric, scores, labels, "multiclass", weights=weights) for metric in expected}
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_regression_metrics_are_those_of_scikit_learn(weighted):
    rng = np.random.default_rng(2)
    truth, guess = rng.normal(size=200), rng.normal(size=200)
    weights = rng.random(200) if weighted else None
    more = {"sample_weight": weights}
    expected = {
        "rmse": oracle.root_mean_squared_error(truth, guess, **more),
        "mae": oracle.mean_absolute_error(truth, guess, **more),
        "pinball": oracle.mean_pinball_loss(truth, guess, alpha=0.2, **more),
    }
    found = {m: value(m, guess, truth, "regression", "value", weights=weights, tau=0.2) for m in expected}
    assert found == pytest.approx(expected)


def test_accuracy_of_both_forms_of_scores():
    labels = np.array([0, 1, 1, 0])
    second = np.array([0.2, 0.9, 0.5, 0.5])  # a tie goes to the first class
    assert value("accuracy", second, labels, "binary") == 0.75
    assert value("accuracy", np.stack([1 - second, second], axis=1), labels, "multiclass") == 0.75


def test_a_certain_wrong_answer_has_a_finite_log_loss():
    assert value("log_loss", np.array([0.0, 1.0]), np.array([1, 1]), "binary") == pytest.approx(27.63 / 2, abs=0.01)


def test_the_pinball_loss_of_the_median_is_half_the_absolute_error():
    rng = np.random.default_rng(3)
    truth, guess = rng.normal(size=50), rng.normal(size=50)
    assert value("pinball", guess, truth, "regression", "value") == pytest.approx(
        value("mae", guess, truth, "regression", "value") / 2
    )


def test_answers_are_read_block_by_block(monkeypatch):
    rng = np.random.default_rng(4)
    labels, before = rng.integers(0, 6, 500), rng.normal(size=(500, 6))
    after = before + rng.normal(0, 0.5, before.shape)
    whole = compare(before, after, labels, "logits", "multiclass")
    monkeypatch.setattr("engine.quality.answers.BLOCK_NUMBERS", 6 * 37)
    parts = compare(before, after, labels, "logits", "multiclass")
    for name in ("gap", "kl", "js", "top_k_overlap"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))
    for name in ("predicted", "confidence", "label_probability"):
        np.testing.assert_array_equal(getattr(whole.candidate, name), getattr(parts.candidate, name))
