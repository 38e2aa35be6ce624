import os

import numpy as np
import pytest

from engine.resources import compressed_bytes


def test_every_file_counts_and_nothing_is_written(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "model.onnx").write_bytes(os.urandom(3 << 20))
    (tmp_path / "inner" / "data").write_bytes(os.urandom(1 << 20))
    before = sorted(tmp_path.rglob("*"))
    assert compressed_bytes(tmp_path) == pytest.approx(4 << 20, rel=0.001)
    assert sorted(tmp_path.rglob("*")) == before


def test_pruned_weights_are_lighter_on_the_way(tmp_path):
    """Unstructured pruning leaves the file as it is: only the compressed size shows it."""
    weights = np.random.default_rng(0).normal(size=200_000).astype(np.float32)
    sizes = []
    for share in (0.0, 0.5, 0.95):
        pruned = np.where(np.abs(weights) < np.quantile(np.abs(weights), share), 0, weights).astype(np.float32)
        folder = tmp_path / str(share)
        folder.mkdir()
        pruned.tofile(folder / "weights")
        sizes.append(compressed_bytes(folder))
    assert sizes[0] > 1.5 * sizes[1] > 6 * sizes[2]


def test_an_empty_folder_weighs_nothing(tmp_path):
    assert compressed_bytes(tmp_path) == 0
