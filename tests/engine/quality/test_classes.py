import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support

from engine.quality import classes
from tests.engine.quality.answering import judged


@pytest.mark.parametrize("weighted", [False, True])
def test_figures_are_those_of_scikit_learn(weighted):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 200)
    before, after = rng.dirichlet(np.ones(4), 200), rng.dirichlet(np.ones(4), 200)
    weights = rng.random(200) if weighted else None
    found = classes.class_figures(judged(before, after, labels, "multiclass", weights=weights), ("a", "b", "c", "d"))
    assert [one.name for one in found] == ["a", "b", "c", "d"]
    assert [one.n_rows for one in found] == np.bincount(labels).tolist()
    for at, scores in enumerate((before, after)):
        precision, recall, f1, _ = precision_recall_fscore_support(labels, scores.argmax(1), sample_weight=weights)
        assert [one.recall[at] for one in found] == pytest.approx(recall)
        assert [one.precision[at] for one in found] == pytest.approx(precision)
        assert [one.f1[at] for one in found] == pytest.approx(f1)


def test_a_class_nobody_names_has_no_precision():
    labels = np.array([0, 0, 1])
    found = classes.class_figures(judged(np.zeros(3), np.array([0.0, 0, 1]), labels, "binary"), None)
    assert [(one.name, one.precision) for one in found] == [("0", (2 / 3, 1.0)), ("1", (None, 1.0))]


def test_of_many_classes_the_largest_are_shown(monkeypatch):
    monkeypatch.setattr(classes, "MOST_CLASSES", 2)
    labels = np.array([0, 1, 1, 2, 2, 2])
    found = classes.class_figures(judged(np.eye(3)[labels], np.eye(3)[labels], labels, "multiclass"), None)
    assert [one.name for one in found] == ["1", "2"]
