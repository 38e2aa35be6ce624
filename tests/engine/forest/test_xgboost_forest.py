from dataclasses import replace

import numpy as np
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import DoesNotFit
from engine.forest.forest import PLAIN
from engine.forest.links import answer
from engine.forest.routes import leaf_routes, margins
from engine.forest.xgboost_forest import highest_below, plain_names, to_forest
from engine.forest.xgboost_model import load, write
from tests.model_zoo import XGBOOST, rows, xgboost_bytes

REFUSED = ("xgb_hinge",)


def model_of(name, tmp_path):
    (tmp_path / name).write_bytes(xgboost_bytes(name))
    return load(tmp_path / name)


def hard_rows(model, kind):
    """Rows of the data plus every threshold, the doubles beside it and halfway to the next float32."""
    values = np.unique(np.concatenate([tree.value[~tree.is_leaf] for tree in model.trees]))
    values = np.concatenate([values, np.nextafter(values, np.float32(-np.inf))]).astype(np.float64)
    middle = (values + np.nextafter(values.astype(np.float32), np.float32(np.inf))) / 2
    values = np.concatenate([values, middle, [0.0, -0.0, np.nan, 1e36, -1e36, 1e300, 1.0]])
    values = np.concatenate([values, np.nextafter(values, np.inf), np.nextafter(values, -np.inf)])
    values = values[(np.abs(values) > 1e-34) | (values == 0) | np.isnan(values)]
    values = values[(np.abs(values) < 1e37) | np.isnan(values)]
    if kind == "categorical":
        values = np.concatenate([np.arange(80.0), [3.7, np.nan, 200.0]])
    random = np.random.default_rng(2)
    base = rows(kind)
    table = base[random.integers(0, len(base), 3000)].copy()
    mask = random.random(table.shape) < 0.5
    table[mask] = random.choice(values, mask.sum())
    return np.concatenate([base, table])


@pytest.mark.parametrize("name", [name for name in XGBOOST if name not in REFUSED])
def test_every_row_takes_xgboosts_way(name, tmp_path):
    """Leaf for leaf: XGBoost's own leaf numbers are those of the clean file."""
    model = model_of(name, tmp_path)
    if name == "xgb_categorical":  # a set of codes that misses go to is no LightGBM set
        model = replace(model, trees=tuple(replace(t, default_left=np.ones_like(t.default_left)) for t in model.trees))
    forest = to_forest(model)
    table = hard_rows(model, XGBOOST[name][1])
    booster = xgboost.Booster(params={"nthread": 1}, model_file=bytearray(write(model)))
    leaves = booster.predict(xgboost.DMatrix(table, feature_types=_types(name)), pred_leaf=True).astype(int)
    order = [
        i for one in zip(*[np.flatnonzero(model.groups == c) for c in range(model.n_groups)], strict=True) for i in one
    ]
    base = {id(tree): i for i, tree in enumerate(forest.trees[: model.n_groups])}
    routes = leaf_routes(replace(forest, objective=PLAIN, n_classes=1), table)
    for column, i in enumerate(order):
        tree, ours = model.trees[i], forest.trees[column]
        shift = 0.0
        if id(ours) in base:  # the first tree of a class carries the base score
            shift = ours.leaf_value[0] - tree.value[tree.is_leaf].astype(float)[0] * _weight(model, i)
        expected = tree.value[leaves[:, i]].astype(np.float64) * _weight(model, i) + shift
        np.testing.assert_allclose(ours.leaf_value[routes[:, column]], expected, rtol=0, atol=1e-12)
        ends = np.flatnonzero(tree.is_leaf)
        np.testing.assert_array_equal(ends[routes[:, column]], leaves[:, i])


def _types(name):
    return ["q"] * 3 + ["c"] * 2 if XGBOOST[name][1] == "categorical" else None


def _weight(model, i):
    return 1.0 if model.weights is None else float(model.weights[i])


@pytest.mark.parametrize("name", [name for name in XGBOOST if name not in (*REFUSED, "xgb_categorical")])
def test_answers_agree_to_single_precision(name, tmp_path):
    model = model_of(name, tmp_path)
    forest = to_forest(model)
    table = rows(XGBOOST[name][1])
    booster = xgboost.Booster(params={"nthread": 1}, model_file=bytearray(write(model)))
    expected = np.asarray(booster.inplace_predict(table, validate_features=False)).reshape(len(table), -1)
    found = answer(forest.objective, margins(forest, leaf_routes(forest, table)))
    np.testing.assert_allclose(found, expected, rtol=3e-6, atol=3e-6)


def test_what_has_no_such_form_is_refused(tmp_path):
    with pytest.raises(DoesNotFit, match="answers 0 or 1"):
        to_forest(model_of("xgb_hinge", tmp_path))
    model = model_of("xgb_regression", tmp_path)
    with pytest.raises(DoesNotFit, match="3 outputs that are no classes"):
        to_forest(replace(model, n_groups=3))


def test_names_that_the_text_cannot_hold_become_positions(tmp_path):
    model = model_of("xgb_regression", tmp_path)
    assert plain_names(model) == ("f0", "f1", "f2", "f3", "f4")
    assert plain_names(replace(model, feature_names=("a", "b c", "d=e", "größe", "e"))) == (
        "a",
        "f1",
        "f2",
        "größe",
        "e",
    )
    assert plain_names(replace(model, feature_names=("f1", "b c", "d", "e", "g"))) == ("f0", "f1", "f2", "f3", "f4")


floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


@settings(max_examples=100, deadline=None)
@given(value=floats, offset=st.integers(-3, 3), other=st.floats(allow_nan=False, allow_infinity=False))
def test_the_threshold_decides_as_the_cast_does(value, offset, other):
    t = np.float32(value)
    limit = float(highest_below(np.array([t]))[0])
    candidates = [float(t), limit, other]
    for start in (float(t), limit):
        x = start
        for _ in range(abs(offset)):
            x = float(np.nextafter(x, np.inf if offset > 0 else -np.inf))
        candidates.append(x)
    with np.errstate(over="ignore"):
        for x in candidates:
            assert (x <= limit) == bool(np.float64(x).astype(np.float32) < t), x
