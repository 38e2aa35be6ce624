import numpy as np
import pandas as pd
import pytest

from engine.errors import BadData
from engine.quality.slices import class_slices, declared_slices, n_min, too_few


@pytest.mark.parametrize(("margin", "rows"), [(0.001, 2995), (0.005, 598), (0.01, 299), (0.02, 149), (0.05, 59)])
def test_n_min_vectors(margin, rows):
    assert n_min(margin) == rows


def test_n_min_at_the_ends():
    assert n_min(0.0) is None
    assert n_min(1.0) == 1
    assert n_min(0.01, alpha=0.05 / 3) > n_min(0.01)


def test_every_value_of_a_declared_column():
    rows = pd.DataFrame({"slice:city": ["x", None, "y", "x", ""], "weight": 1.0})
    found = {value: mask.tolist() for column, value, mask in declared_slices(rows, ["city"])}
    assert found == {
        "x": [True, False, False, True, False],
        "y": [False, False, True, False, False],
        "(missing)": [False, True, False, False, True],
    }


def test_the_words_na_and_none_are_values():
    rows = pd.DataFrame({"slice:code": ["NA", "None", "nan"]})
    assert [value for _, value, _ in declared_slices(rows, ["code"])] == ["NA", "None", "nan"]


def test_an_unknown_slice_column_is_named():
    with pytest.raises(BadData, match="'town' is not in the evaluation set; it has city, hour"):
        list(declared_slices(pd.DataFrame({"slice:city": ["x"], "slice:hour": ["1"]}), ["town"]))


def test_classes_are_slices():
    found = list(class_slices(np.array([1, 0, 1]), ("cat", "dog")))
    assert [(column, value) for column, value, _ in found] == [("true class", "cat"), ("true class", "dog")]
    assert found[1][2].tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("n", "metric", "margin", "labels", "said"),
    [
        (5, "accuracy", 0.01, None, "too few rows: 5 of 299 needed"),
        (299, "accuracy", 0.01, None, None),
        (80, "accuracy", 0.05, None, None),
        (80, "rmse", 0.05, None, "too few rows: 80 of 100 needed"),
        (80, "ndcg_at_10", 0.05, None, "too few queries: 80 of 100 needed"),
        (500, "roc_auc", 0.01, np.repeat([0, 1], [471, 29]), "too few rows of one class: 29 of 30 needed"),
        (500, "roc_auc", 0.01, np.repeat([0, 1], [470, 30]), None),
        (500, "roc_auc", 0.01, np.zeros(500, int), None),  # the metric itself says "only one class"
        (500, "macro_roc_auc", 0.01, np.eye(2, dtype=int)[np.repeat([0, 1], [471, 29])], "without one label: 29 of 30"),
        (500, "macro_roc_auc", 0.01, np.eye(3, dtype=int)[np.repeat([0, 1], [470, 30])], None),  # one that no row has
        (299, "subset_accuracy", 0.01, np.zeros((299, 2), int), None),
        (80, "hamming_loss", 0.05, np.zeros((80, 2), int), "too few rows: 80 of 100 needed"),
        (10**6, "accuracy", 0.0, None, "a limit of 0 is met only by identical answers"),
    ],
)
def test_when_a_verdict_means_nothing(n, metric, margin, labels, said):
    found = too_few(n, metric, margin, 0.05, labels)
    assert found is said if said is None else said in found
