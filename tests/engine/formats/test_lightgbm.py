"""What is told of LightGBM text models."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import BadModel
from engine.formats import lightgbm as lightgbm_format
from tests.engine.formats.taking import sentence, take_here

X = np.random.default_rng(0).normal(size=(300, 3))


def trained(path, objective, label=None, data=X, n_rounds=4, **options):
    label = (X[:, 0] > 0).astype(int) if label is None else label
    parameters = {"objective": objective, "verbose": -1, "num_threads": 1, "min_data_per_group": 2, **options}
    group = [30] * 10 if objective in ("lambdarank", "rank_xendcg") else None
    booster = lightgbm.train(parameters, lightgbm.Dataset(data, label, group=group), n_rounds)
    booster.save_model(path)
    return booster


@pytest.mark.parametrize(
    ("objective", "task", "kind", "classes"),
    [
        ("binary", "binary", "probabilities", ("0", "1")),
        ("cross_entropy", "binary", "probabilities", ("0", "1")),
        ("regression", "regression", "value", None),
        ("regression_l1", "regression", "value", None),
        ("poisson", "regression", "value", None),
        ("huber", "regression", "value", None),
        ("lambdarank", "ranking", "value", None),
    ],
)
def test_the_objective_tells_task_and_kind(objective, task, kind, classes, tmp_path):
    trained(tmp_path / "m.txt", objective)
    manifest = take_here(tmp_path / "m.txt", tmp_path / "out")
    signature = manifest.signature
    assert (signature.task, signature.output_kind, signature.classes) == (task, kind, classes)
    assert (signature.score_output, signature.outputs[0].shape, signature.outputs[0].dtype) == (
        "score",
        ("batch",),
        "float64",
    )
    assert (manifest.n_trees, manifest.warnings) == (4, ())
    assert manifest.versions["objective"].startswith(objective)


def test_several_classes(tmp_path):
    trained(tmp_path / "m.txt", "multiclass", np.arange(300) % 3, num_class=3)
    manifest = take_here(tmp_path / "m.txt", tmp_path / "out")
    assert (manifest.signature.task, manifest.signature.classes) == ("multiclass", ("0", "1", "2"))
    assert manifest.signature.outputs[0].shape == ("batch", 3)
    assert manifest.n_trees == 12


def test_names_and_categories(tmp_path):
    frame = pd.DataFrame(
        {
            "size": X[:, 0],
            "colour": pd.Categorical(np.array(["red", "green", "blue"])[np.arange(300) % 3]),
            "floor": pd.Categorical(np.arange(300) % 4),
        }
    )
    trained(tmp_path / "m.txt", "binary", (np.arange(300) % 3 == 1).astype(int), data=frame)
    manifest = take_here(tmp_path / "m.txt", tmp_path / "out")
    (features,) = manifest.signature.inputs
    assert (features.name, features.dtype, features.shape) == ("features", "float64", ("batch", 3))
    assert features.columns == ("size", "colour", "floor")
    assert features.categories == {"colour": ("blue", "green", "red"), "floor": ("0", "1", "2", "3")}


def test_linear_leaves_are_said(tmp_path):
    trained(tmp_path / "m.txt", "regression", X[:, 0] * 2, linear_tree=True)
    assert "linear models" in take_here(tmp_path / "m.txt", tmp_path / "out").warnings[0]


def test_what_is_written_predicts_the_same(tmp_path):
    booster = trained(tmp_path / "m.txt", "binary")
    take_here(tmp_path / "m.txt", tmp_path / "out")
    assert np.array_equal(lightgbm.Booster(model_file=tmp_path / "out" / "model.txt").predict(X), booster.predict(X))
    take_here(tmp_path / "out" / "model.txt", tmp_path / "again")
    assert (tmp_path / "again" / "model.txt").read_bytes() == (tmp_path / "out" / "model.txt").read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "m.txt"
    trained(path, "binary", n_rounds=2)
    return path.read_bytes()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_cut_and_changed_files_end_in_a_sentence_or_a_description(data, whole, tmp_path):
    damaged = bytearray(whole[: data.draw(st.integers(6, len(whole)), "kept")])
    for position in (
        data.draw(st.lists(st.integers(6, len(damaged) - 1), max_size=4), "changed") if len(damaged) > 7 else ()
    ):
        damaged[position] = data.draw(st.integers(0, 255))
    path, out = tmp_path / "m.txt", tmp_path / "out"
    path.write_bytes(damaged)
    out.mkdir(exist_ok=True)
    try:
        lightgbm_format.take(path, out)
        lightgbm_format.describe(out)
    except BadModel as error:
        sentence(error)
