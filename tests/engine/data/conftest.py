"""Reading and binding in this process, as the confined child does it, without the cost of a child per test."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine.data.arrow_types import stored_as
from engine.data.bind import bind
from engine.data.choices import DataChoices
from engine.data.profile import ColumnProfile, TableProfile
from engine.data.read import read
from engine.data.statistics import ColumnStatistics
from engine.data.stored import load_rows, load_split
from engine.data.table import open_table
from engine.records import EvalSetInfo, Signature, TensorSpec


class Silent:
    """Takes progress messages and keeps them."""

    def __init__(self):
        self.messages = []

    def send(self, message):
        self.messages.append(message)


@pytest.fixture
def talk():
    return Silent()


@pytest.fixture
def read_file(tmp_path_factory):
    """read_file(path, **options) -> (folder of the stored table, profile)."""

    def call(path, **options):
        out = tmp_path_factory.mktemp("table")
        answer = read({"path": str(path), "out": str(out), **options}, Silent())
        return out, TableProfile.model_validate(answer)

    return call


@pytest.fixture
def read_text(tmp_path, read_file):
    """read_text(text or bytes, **options) -> (folder, profile) of a CSV with that text."""

    def call(text, **options):
        path = tmp_path / "file.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_file(path, **options)

    return call


def tensor(name, *shape, dtype="float32", **more):
    return TensorSpec(name=name, dtype=dtype, shape=shape, **more)


@pytest.fixture
def net():
    """net(width, n_classes) -> the signature of a plain net: x float32 (N, width) -> y float32 (N, n_classes)."""

    def make(width=4, n_outputs=2, **more):
        return Signature(inputs=(tensor("x", "N", width),), outputs=(tensor("y", "N", n_outputs),), **more)

    return make


@pytest.fixture
def booster():
    """booster(names, **more) -> the signature of a binary LightGBM model."""

    def make(names, categories=None, task="binary", **more):
        features = tensor("features", "N", len(names), dtype="float64", columns=tuple(names), categories=categories)
        return Signature(inputs=(features,), outputs=(tensor("score", "N", dtype="float64"),), task=task, **more)

    return make


@pytest.fixture
def save_npz(tmp_path):
    """save_npz(**arrays) -> path of an NPZ file."""

    def call(**arrays):
        path = tmp_path / "file.npz"
        np.savez(path, **arrays)
        return Path(path)

    return call


@pytest.fixture
def columns():
    """columns(name=values, …) -> the profile of a table with those columns."""

    def make(**given):
        found = []
        for at, (name, values) in enumerate(given.items()):
            array = values if isinstance(values, pa.Array) else pa.array(values)
            stored = stored_as(name, array.type)
            if stored.kind == "array":
                shape = np.array(array.to_pylist()).shape[1:]
                found.append(ColumnProfile(name=name, position=at, kind="array", dtype=stored.dtype, shape=shape))
                continue
            statistics = ColumnStatistics(at, name, stored.kind, stored.dtype)
            statistics.add(array)
            found.append(statistics.profile())
        return TableProfile(format="parquet", n_rows=len(next(iter(given.values()))), columns=tuple(found))

    return make


@pytest.fixture
def store(tmp_path_factory):
    """store(name=values, …) -> an open Table with those columns."""

    def make(**given):
        path = tmp_path_factory.mktemp("file") / "table.parquet"
        pq.write_table(pa.table(given), path)
        out = tmp_path_factory.mktemp("table")
        read({"path": str(path), "out": str(out)}, Silent())
        return open_table(out)

    return make


@dataclass(frozen=True)
class Bound:
    """What binding left behind."""

    folder: Path
    info: EvalSetInfo
    signature: Signature

    def split(self, name):
        return load_split(self.folder, name)

    def rows(self, name):
        return load_rows(self.folder, name)

    def all_labels(self):
        return np.concatenate([self.split(name).labels for name in ("train", "selection", "certification")])


@pytest.fixture
def bind_table(tmp_path_factory):
    """bind_table(table folder, signature, train_table=None, seed=0, **choices) -> Bound."""

    def call(folder, signature, train_table=None, seed=0, **choices):
        out = tmp_path_factory.mktemp("evalset")
        request = {
            "table": str(folder),
            "train_table": str(train_table) if train_table else None,
            "signature": signature.model_dump(mode="json"),
            "choices": DataChoices(**choices).model_dump(mode="json"),
            "seed": seed,
            "out": str(out),
        }
        answer = bind(request, Silent())
        assert json.loads(json.dumps(answer)) == answer
        return Bound(out, EvalSetInfo.model_validate(answer["info"]), Signature.model_validate(answer["signature"]))

    return call


@pytest.fixture
def bind_file(read_file, bind_table):
    """bind_file(path of a data file, signature, **choices) -> Bound."""
    return lambda path, signature, **choices: bind_table(read_file(path)[0], signature, **choices)


@pytest.fixture
def bind_columns(store, bind_table):
    """bind_columns({name: values}, signature, **choices) -> Bound."""
    return lambda given, signature, **choices: bind_table(store(**given).folder, signature, **choices)
