"""Tiny models of every family, made once per test session, and artefacts around them."""

from functools import cache

import lightgbm as lgb
import numpy as np
import pandas as pd

from engine.forest.lightgbm_text import parse
from engine.plugin import Artefact
from engine.records import Manifest, Signature, TensorSpec

# name -> (parameters, kind of data); every trap of gradient boosting that changes predictions is among them
FORESTS = {
    "binary": ({"objective": "binary"}, "missing"),
    "sigmoid2": ({"objective": "binary", "sigmoid": 2.0}, "plain"),
    "multiclass": ({"objective": "multiclass", "num_class": 3}, "categorical"),
    "multiclassova": ({"objective": "multiclassova", "num_class": 3, "sigmoid": 1.5}, "plain"),
    "regression": ({"objective": "regression"}, "plain"),
    "categorical": ({"objective": "binary"}, "categorical"),
    "rf": ({"objective": "binary", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}, "plain"),
    "dart": ({"objective": "binary", "boosting": "dart"}, "plain"),
    "poisson": ({"objective": "poisson"}, "plain"),
    "root": ({"objective": "regression", "reg_sqrt": True}, "plain"),
    "root_l1": ({"objective": "regression_l1", "reg_sqrt": True}, "plain"),
    "cross_entropy": ({"objective": "cross_entropy"}, "plain"),
    "cross_entropy_lambda": ({"objective": "cross_entropy_lambda"}, "plain"),
    "ranking": ({"objective": "lambdarank"}, "plain"),
    "zero_as_missing": ({"objective": "binary", "zero_as_missing": True}, "missing"),
    "no_missing": ({"objective": "binary", "use_missing": False}, "missing"),
    "constant": ({"objective": "regression", "min_data_in_leaf": 10_000}, "plain"),
    "linear": ({"objective": "regression", "linear_tree": True}, "plain"),
    "custom": ({"objective": "custom"}, "plain"),
}
N_ROWS, N_COLUMNS, N_CODES = 600, 5, 70


@cache
def rows(kind):
    """(600, 5) float64; the last column is a code in categorical data; 10 % NaN and 20 % zeros in missing data."""
    random = np.random.default_rng(7)
    table = random.normal(size=(N_ROWS, N_COLUMNS)) * np.array([1, 1e-3, 1e6, 1, 1])
    if kind == "categorical":
        table[:, 3] = random.integers(0, 4, N_ROWS)
        table[:, 4] = random.integers(0, N_CODES, N_ROWS)
    if kind == "missing":
        table[random.random(table.shape) < 0.2] = 0.0
        table[random.random(table.shape) < 0.1] = np.nan
    return table


def _labels(table, params):
    signal = np.nan_to_num(table[:, 0]) + np.nan_to_num(table[:, 2]) / 1e6 + np.sin(table[:, 4] * 1.7)
    signal = np.nan_to_num(signal)
    n_classes = params.get("num_class", 3 if params["objective"] == "lambdarank" else 2)
    if params["objective"].startswith(("regression", "poisson")):
        return np.abs(signal) * 3
    return np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes)).astype(float)


def _pull(scores, data):
    return scores - data.get_label(), np.ones(len(scores))


@cache
def booster(name, n_rounds=12):
    """The trained LightGBM model of FORESTS."""
    params, kind = FORESTS[name]
    table = rows(kind)
    params = {"num_leaves": 9, "num_threads": 1, "seed": 1, "verbose": -1, "min_data_per_group": 5, **params}
    if params["objective"] == "custom":
        params["objective"] = _pull
    data = lgb.Dataset(
        table,
        _labels(table, FORESTS[name][0]),
        group=[60] * 10 if params["objective"] == "lambdarank" else None,
        categorical_feature=[3, 4] if kind == "categorical" else [],
    )
    return lgb.train(params, data, n_rounds)


@cache
def forest_text(name):
    """Its file, as LightGBM writes it."""
    return booster(name).model_to_string()


@cache
def colours_text():
    """A model trained from a data frame with one category column called colour."""
    random = np.random.default_rng(3)
    table = pd.DataFrame(random.normal(size=(300, 2)), columns=["a", "b"])
    table["colour"] = pd.Categorical(random.choice(["red", "green", "blue"], 300))
    label = ((table.colour == "green") ^ (table.a > 0)).astype(int)
    params = {"objective": "binary", "verbose": -1, "num_threads": 1, "min_data_per_group": 2, "num_leaves": 5}
    return lgb.train(params, lgb.Dataset(table, label), 5).model_to_string()


def adversarial_rows(name):
    """Rows of the model's data plus every value at which two readings of a tree may part."""
    forest = parse(forest_text(name))
    thresholds = np.unique(np.concatenate([tree.threshold[~tree.categorical] for tree in forest.trees] + [[0.0]]))
    tiny = 1.0000000180025095e-35
    values = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e36, -1e36, 9e-36, -9e-36, 1e-35, tiny, -tiny]
    values += [np.nextafter(tiny, 1), -np.nextafter(tiny, 1), np.nextafter(tiny, 0), 1e-300, -1e-300]
    values += [3.7, -0.5, -1.0, 0.99999, 1e9, 3e9, -3e9, 2.0**31, 2.0**31 - 1, 2.0**40, *range(-2, 80)]
    picked = thresholds[:: max(1, len(thresholds) // 150)]
    values = np.concatenate([values, picked, np.nextafter(picked, np.inf), np.nextafter(picked, -np.inf)])
    base = rows(FORESTS[name][1])
    random = np.random.default_rng(5)
    table = base[random.integers(0, len(base), 1500)].copy()
    mask = random.random(table.shape) < 0.5
    table[mask] = random.choice(values, mask.sum())
    return np.concatenate([base, table, np.repeat(values[:, None], N_COLUMNS, axis=1)])


def forest_artefact(name, folder):
    """An artefact as the LightGBM format describes it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.txt").write_text(forest_text(name))
    forest = parse(forest_text(name))
    shape = ("n",) if forest.n_classes == 1 else ("n", forest.n_classes)
    signature = Signature(
        inputs=(
            TensorSpec(name="features", dtype="float64", shape=("n", forest.n_features), columns=forest.feature_names),
        ),
        outputs=(TensorSpec(name="score", dtype="float64", shape=shape),),
        score_output="score",
    )
    size = (folder / "model.txt").stat().st_size
    manifest = Manifest(id="0" * 64, format="lightgbm", signature=signature, size_bytes=size, n_trees=len(forest.trees))
    return Artefact(manifest, folder)
