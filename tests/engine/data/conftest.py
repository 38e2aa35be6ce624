"""Reading and binding in this process, as the confined child does it, without the cost of a child per test."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.data.profile import TableProfile
from engine.data.read import read
from engine.records import Signature, TensorSpec


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
