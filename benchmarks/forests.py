"""The forests of the tree benchmark, trained anew: same seed, same data, whatever the machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd

from sample_models import flight_delay

N_TRAIN, N_FEATURES = 50_000, 30
Made = tuple[lgb.Booster, np.ndarray]  # model, rows (20,000, n_features) float64


def _table(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """30 features as tables have them (correlated, heavy tails, counts, cents, flags) and a noisy signal."""
    fixed, random = np.random.default_rng(1234), np.random.default_rng(seed)
    mixing = fixed.normal(size=(N_FEATURES, N_FEATURES)) * 0.35 + np.eye(N_FEATURES)
    z = random.normal(size=(n_rows, N_FEATURES)) @ mixing / np.sqrt((mixing**2).sum(axis=0))
    x = z.copy()
    x[:, 5:10] = np.exp(z[:, 5:10])
    x[:, 10:14] = np.floor(np.exp(z[:, 10:14] * 0.8 + 1))
    x[:, 14:18] = np.round(100 * np.exp(z[:, 14:18]), 2)
    x[:, 18:20] = z[:, 18:20] > 0.7
    first, second = fixed.normal(size=(20, 24)) / np.sqrt(20) * 1.6, fixed.normal(size=24) / np.sqrt(24) * 1.5
    signal = np.tanh(z[:, :20] @ first) @ second * 1.3 + 0.9 * np.sin(1.5 * z[:, 0]) * z[:, 6]
    return x, (signal - 0.3) * 1.15


def _train(
    params: dict[str, Any], x: np.ndarray, y: np.ndarray, n_rounds: int, categories: tuple[int, ...] = ()
) -> Any:
    own = {"verbose": -1, "num_threads": 2, "seed": 1, "deterministic": True, "force_row_wise": True}
    data = lgb.Dataset(x, y, categorical_feature=list(categories))
    return lgb.train(own | {"objective": "binary", "learning_rate": 0.05} | params, data, n_rounds)


def _binary(n_rounds: int, **params: Any) -> Made:
    x, signal = _table(N_TRAIN, 1)
    y = np.random.default_rng(2).random(len(x)) < 1 / (1 + np.exp(-signal))
    return _train(params, x, y, n_rounds), _table(20_000, 3)[0]


def _categorical() -> Made:
    def coded(seed: int) -> tuple[np.ndarray, np.ndarray]:
        x, signal = _table(N_TRAIN if seed == 1 else 20_000, seed)
        random = np.random.default_rng(seed)
        x[:, 3], x[:, 4] = random.integers(0, 12, len(x)), random.integers(0, 200, len(x))
        return x, signal + np.sin(x[:, 4] * 1.7) + np.cos(x[:, 3] * 2.3)

    x, signal = coded(1)
    y = np.random.default_rng(2).random(len(x)) < 1 / (1 + np.exp(-signal))
    return _train({"min_data_per_group": 20}, x, y, 500, (3, 4)), coded(3)[0]


def _missing() -> Made:
    def holes(seed: int) -> tuple[np.ndarray, np.ndarray]:
        x, signal = _table(N_TRAIN if seed == 1 else 20_000, seed)
        x[np.random.default_rng(seed).random(x.shape) < 0.08] = np.nan
        return x, signal

    x, signal = holes(1)
    y = np.random.default_rng(2).random(len(x)) < 1 / (1 + np.exp(-signal))
    return _train({}, x, y, 500), holes(3)[0]


def _multiclass() -> Made:
    x, signal = _table(N_TRAIN, 1)
    y = np.digitize(signal + np.random.default_rng(2).normal(size=len(x)) * 0.7, [-1.2, -0.3, 0.6, 1.6])
    return _train({"objective": "multiclass", "num_class": 5}, x, y, 200), _table(20_000, 3)[0]


def _flights() -> Made:
    sample = flight_delay.sample()
    booster = lgb.Booster(model_file=sample.model)
    table = pd.read_parquet(sample.data, columns=[*flight_delay.FEATURES, "split"])
    table = table[table["split"] != "certification"].head(20_000)
    for name, values in zip(flight_delay.CATEGORIES, booster.pandas_categorical, strict=True):
        table[name] = pd.Categorical(table[name], categories=values).codes
        table.loc[table[name] < 0, name] = np.nan
    return booster, np.ascontiguousarray(table[list(flight_delay.FEATURES)].to_numpy(np.float64))


MODELS: dict[str, Callable[[], Made]] = {
    "1,500 trees of 31 leaves": lambda: _binary(1500, learning_rate=0.03),
    "500 trees of 31 leaves": lambda: _binary(500),
    "200 trees of 255 leaves": lambda: _binary(200, num_leaves=255),
    "500 trees, categories of 12 and 200 levels": _categorical,
    "500 trees, 8 % missing": _missing,
    "5 classes, 200 rounds": _multiclass,
    "flight_delay": _flights,
}
