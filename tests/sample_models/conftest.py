"""The data of the samples, and their models' answers through plain libraries."""

import numpy as np
import pandas as pd
import pytest

import sample_models


def columns_of(path):
    """Every column or array of a data file by name."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays}
    table = pd.read_parquet(path)
    return {name: table[name].to_numpy() for name in table}


@pytest.fixture(scope="session")
def columns():
    return {name: columns_of(sample.data) for name, sample in sample_models.samples().items()}


def accuracy_of_digits(model, columns, rows):
    import torch

    net = torch.export.load(model).module()
    with torch.no_grad():
        logits = net(torch.from_numpy(columns["image"][rows]))
    assert logits.shape == (rows.sum(), 10)
    return (logits.argmax(1).numpy() == columns["label"][rows]).mean()


def rmse_of_diamonds(model, columns, rows):
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    inputs = {name: np.stack(columns[name][rows]) for name in ("numeric", "codes")}
    (value,) = session.run(["value"], inputs)
    assert value.shape == (rows.sum(),)
    return np.sqrt(np.mean((value.astype(np.float64) - columns["log_price"][rows]) ** 2))


def flight_scores(model, columns, rows, n_trees=None):
    import lightgbm

    booster = lightgbm.Booster(model_file=model)
    table = pd.DataFrame({name: columns[name][rows] for name in booster.feature_name()})
    table = table.astype(dict.fromkeys(("carrier", "origin", "dest"), "category"))
    return booster.predict(table, num_iteration=n_trees, num_threads=1)


def auc_of_flights(model, columns, rows, n_trees=None):
    from sklearn.metrics import roc_auc_score

    return roc_auc_score(columns["late"][rows], flight_scores(model, columns, rows, n_trees))


@pytest.fixture(scope="session")
def measure():
    """Sample name -> measure(model, columns, rows): the sample's metric on those rows."""
    return {"diamonds_price": rmse_of_diamonds, "digits_cnn": accuracy_of_digits, "flight_delay": auc_of_flights}


@pytest.fixture(scope="session")
def read_columns():
    return columns_of


@pytest.fixture(scope="session")
def parts_of():
    return parts


def parts(values):
    """One column per number of a row."""
    if values.dtype == object and isinstance(values[0], np.ndarray):
        values = np.stack(values)
    return list(values.reshape(len(values), -1).T)
