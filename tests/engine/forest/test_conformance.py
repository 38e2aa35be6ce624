from dataclasses import replace

import numpy as np
import pytest

from engine.forest.conformance import RELATIVE, difference, probes
from engine.forest.lightgbm_text import parse, write
from tests.model_zoo import FORESTS, booster, forest_text, rows


def answers(forest, table):
    import lightgbm as lgb

    return lgb.Booster(model_str=write(forest)).predict(table, num_threads=1)


@pytest.fixture(scope="module")
def categorical():
    forest = parse(forest_text("categorical"))
    return forest, probes(forest, rows("categorical"))


def test_every_edge_is_among_the_rows(categorical):
    forest, made = categorical
    assert set(made.kind.tolist()) == {
        "a row as it is",
        "at a threshold",
        "just above a threshold",
        "just below a threshold",
        "float32 value beside a threshold",
        "NaN",
        "infinity",
        "zero or read as zero",
        "far value",
        "epoch seconds",
        "known category",
        "fractional category",
        "unseen or impossible category",
    }
    values = made.values[np.arange(len(made.column)), made.column]
    thresholds = np.concatenate([tree.threshold[~tree.categorical] for tree in forest.trees])
    assert np.isin(values[made.kind == "at a threshold"], thresholds).all()
    assert not np.isinf(probes(forest, rows("categorical"), infinite=False).values).any()


def test_rows_differ_from_an_evaluation_row_in_one_value(categorical):
    _, made = categorical
    known = {row.tobytes() for row in rows("categorical")}
    plain = made.column < 0
    assert all(row.tobytes() in known for row in made.values[plain])
    other = made.values != made.values[made.origin]
    assert (other.sum(axis=1)[~plain] <= 1).all()
    assert (made.column[other.any(axis=1)] == other.argmax(axis=1)[other.any(axis=1)]).all()


def test_the_same_model_differs_nowhere(categorical):
    forest, made = categorical
    found = difference(answers(forest, made.values), booster("categorical").predict(made.values), made, RELATIVE)
    assert (found.n_differ, found.largest, found.column, found.kind) == (0, 0.0, None, None)
    assert found.n_rows == len(made.column) > 300


def planted(forest, change):
    """Every tree changed by change(tree) -> fields."""
    return replace(forest, trees=tuple(replace(tree, **change(tree)) for tree in forest.trees))


FAULTS = {
    "less instead of at most": (
        "regression",
        lambda t: {"threshold": np.where(t.categorical, t.threshold, np.nextafter(t.threshold, -np.inf))},
        ("at a threshold",),
    ),
    "thresholds in single precision": (
        "regression",
        lambda t: {"threshold": t.threshold.astype(np.float32).astype(np.float64)},
        ("at a threshold", "just above a threshold", "just below a threshold", "float32 value beside a threshold"),
    ),
    "missing goes the other way": ("binary", lambda t: {"decision": t.decision ^ 2}, ("NaN",)),
    "zero is not missing": (
        "zero_as_missing",
        lambda t: {"decision": (t.decision & 3) | 8},
        ("zero or read as zero", "NaN"),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found_and_named(fault):
    name, change, kinds = FAULTS[fault]
    forest = parse(forest_text(name))
    made = probes(forest, rows(FORESTS[name][1]))
    found = difference(answers(forest, made.values), answers(planted(forest, change), made.values), made, RELATIVE)
    assert found.n_differ > 0
    assert found.largest > 1e-6
    assert found.kind in kinds
    assert 0 <= found.column < forest.n_features


def test_a_fault_of_every_row_is_not_laid_on_a_column():
    made = probes(parse(forest_text("regression")), rows("plain"))
    right = np.ones(len(made.column))
    found = difference(right, right * 2, made, RELATIVE)
    assert (found.n_differ, found.column, found.kind) == (len(right), None, "a row as it is")


def test_last_bits_of_a_link_are_no_difference():
    right = np.array([0.25, 0.5, 1e-9])
    assert difference(right, right * (1 + 4e-16), None, RELATIVE).n_differ == 0
    assert difference(right, right * (1 + 1e-12), None, RELATIVE).n_differ == 3
    nan = np.array([np.nan, 1.0])
    assert difference(nan, nan.copy(), None, RELATIVE).n_differ == 0
    assert difference(nan, np.array([0.0, 1.0]), None, RELATIVE).largest == np.inf
