"""Thousands of big trees (case P27): read, converted and loaded in seconds, not in minutes."""

from dataclasses import replace

import lightgbm as lgb
import numpy as np
import pytest

from engine.forest.lightgbm_text import parse, write
from engine.forest.onnx_tree_ensemble import to_onnx
from engine.forest.rebuild import scaled


@pytest.mark.slow
def test_p27_eight_hundred_trees_of_255_leaves(tmp_path):
    random = np.random.default_rng(0)
    table = random.normal(size=(20_000, 10))
    params = {"objective": "binary", "num_leaves": 255, "min_data_in_leaf": 2, "verbose": -1, "num_threads": 1}
    label = (table[:, 0] * table[:, 1] + table[:, 2] > 0).astype(int)
    few = parse(lgb.train(params, lgb.Dataset(table, label), 20).model_to_string())
    forest = replace(few, trees=tuple(scaled(tree, 0.9**i) for i in range(40) for tree in few.trees))
    text = write(forest)
    assert len(text) > 15_000_000
    assert len(parse(text).trees) == 800
    import onnxruntime as ort

    model = to_onnx(forest).SerializeToString()
    assert len(model) < len(text) / 2
    found = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"features": table[:500]})[0]
    expected = lgb.Booster(model_str=text).predict(table[:500], num_threads=1)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
