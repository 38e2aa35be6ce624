import shutil

import numpy as np
import pytest

from engine.data.stored import load_info, load_rows, load_split


@pytest.fixture
def bound(bind_columns, net):
    values = np.random.default_rng(0).normal(size=(100, 4))
    table = {f"f{at}": values[:, at] for at in range(4)} | {"label": [0, 1] * 50}
    return bind_columns(table, net())


def test_the_id_of_a_set_is_its_folder(bound, tmp_path):
    place = tmp_path / "0f3a"
    shutil.copytree(bound.folder, place)
    assert load_info(place) == bound.info.model_copy(update={"id": "0f3a"})


def test_a_split_stands_alone(bound, tmp_path):
    """A confined child sees the folder of its split and nothing beside it."""
    shutil.copytree(bound.folder / "train", tmp_path / "train")
    split = load_split(tmp_path, "train")
    assert list(split.inputs) == ["x"]
    assert split.n_rows == len(load_rows(tmp_path, "train")) == 30


def test_arrays_are_views_that_cannot_be_written(bound):
    with pytest.raises(ValueError, match="read-only"):
        load_split(bound.folder, "train").inputs["x"][0, 0] = 1.0
